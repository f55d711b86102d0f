// The latencies of a timed loop, in the clock's own unit.

#ifndef COMMON_RECORDING_TICK_HISTOGRAM_H_
#define COMMON_RECORDING_TICK_HISTOGRAM_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/recording/log_linear.h"

namespace kvmatrix {

// Made for the inside of a loop: Add() of a short sample is one increment.
// Count, minimum, maximum and sum are exact.  The buckets are twice as fine as
// those of Histogram, so that the conversion to nanoseconds loses little.
// Takes 114 KiB. Not thread-safe.
class TickHistogram {
 public:
  using Buckets = LogLinear<8>;

  TickHistogram() : counts_(Buckets::kBuckets) {}

  // Adds a sample.  For one below 512 ticks the bucket is the sample, so
  // nothing else is recorded; count and sum are computed from the buckets.  A
  // negative difference, which occurs if the counters of two processors deviate
  // by a few ticks, counts as 0.
  void Add(uint64_t ticks) {
    if (ticks < kExact) {
      ++counts_[ticks];
    } else {
      AddLong(ticks);
    }
  }

  // Adds the samples of another histogram.
  void Merge(const TickHistogram& other);

  // Statistics over all samples; each call reads the buckets.
  uint64_t count() const;
  uint64_t sum() const;
  uint64_t min() const;  // 0 if there are no samples
  uint64_t max() const;  // 0 if there are no samples

  // The number of samples in each bucket.
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  static constexpr uint64_t kExact = 2 * Buckets::kSub;
  static constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();

  void AddLong(uint64_t ticks) {
    if (ticks > kLongest) ticks = 0;
    ++counts_[Buckets::Index(ticks)];
    long_sum_ += ticks;
    long_min_ = std::min(long_min_, ticks);
    long_max_ = std::max(long_max_, ticks);
  }

  std::vector<uint64_t> counts_;
  uint64_t long_sum_ = 0;
  uint64_t long_min_ = std::numeric_limits<uint64_t>::max();
  uint64_t long_max_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_TICK_HISTOGRAM_H_
