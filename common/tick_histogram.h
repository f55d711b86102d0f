// What a timed loop records of its latencies, in the clock's own unit.

#ifndef COMMON_TICK_HISTOGRAM_H_
#define COMMON_TICK_HISTOGRAM_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "common/log_linear.h"

namespace kvmatrix {

// Count, minimum, maximum and sum are exact.  Buckets are twice as fine as
// those of Histogram, so that converting the unit loses next to nothing.
class TickHistogram {
 public:
  using Buckets = LogLinear<8>;

  TickHistogram() : counts_(Buckets::kBuckets) {}

  void Add(uint64_t ticks) {
    ++counts_[Buckets::Index(ticks)];
    ++count_;
    sum_ += ticks;
    if (ticks < min_) min_ = ticks;
    if (ticks > max_) max_ = ticks;
  }

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }

  // Samples by bucket.
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_TICK_HISTOGRAM_H_
