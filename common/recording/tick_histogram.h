// The latencies of a timed loop, in the clock's own unit.
//
// A meter adds each call to one of these; after the loop it is converted to a
// Histogram in nanoseconds, once the length of a tick is known.

#ifndef COMMON_RECORDING_TICK_HISTOGRAM_H_
#define COMMON_RECORDING_TICK_HISTOGRAM_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/recording/log_linear.h"

namespace kvmatrix {

// Made for the inside of a loop: Add() of a short sample is one increment and
// allocates nothing.  Count, minimum, maximum and sum are exact.  The buckets
// are twice as fine as those of Histogram, so that the conversion to
// nanoseconds loses little.  Takes 114 KiB, which the constructor allocates.
//
// In an open loop the samples are nanoseconds, which are treated alike.
//
// Not thread-safe: each thread has its own, and Merge() adds them up.
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

  // Adds the samples of another histogram, in the same unit.  Exact.
  void Merge(const TickHistogram& other);

  // Statistics over all samples; each call reads the buckets, so they are for
  // the time after the loop.  The sum is modulo 2^64.
  uint64_t count() const;
  uint64_t sum() const;
  uint64_t min() const;  // 0 if there are no samples
  uint64_t max() const;  // 0 if there are no samples

  // The number of samples in each bucket; the index is that of Buckets.
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  // Samples below this have a bucket of their own.
  static constexpr uint64_t kExact = 2 * Buckets::kSub;

  // A larger sample is a negative difference of two readings.
  static constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();

  // Records what the bucket alone does not say.
  void AddLong(uint64_t ticks) {
    if (ticks > kLongest) ticks = 0;
    ++counts_[Buckets::Index(ticks)];
    long_sum_ += ticks;
    long_min_ = std::min(long_min_, ticks);
    long_max_ = std::max(long_max_, ticks);
  }

  std::vector<uint64_t> counts_;  // below kExact the index is the sample
  // Of the samples from kExact on, and of negative ones, as 0.
  uint64_t long_sum_ = 0;
  uint64_t long_min_ = std::numeric_limits<uint64_t>::max();
  uint64_t long_max_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_TICK_HISTOGRAM_H_
