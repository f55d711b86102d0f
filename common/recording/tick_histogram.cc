#include "common/recording/tick_histogram.h"

#include <numeric>

namespace kvmatrix {

void TickHistogram::Merge(const TickHistogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  long_sum_ += other.long_sum_;
  long_min_ = std::min(long_min_, other.long_min_);
  long_max_ = std::max(long_max_, other.long_max_);
}

uint64_t TickHistogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

uint64_t TickHistogram::sum() const {
  uint64_t sum = long_sum_;
  for (uint64_t ticks = 0; ticks < kExact; ++ticks) {
    sum += ticks * counts_[ticks];
  }
  return sum;
}

uint64_t TickHistogram::min() const {
  for (uint64_t ticks = 0; ticks < kExact; ++ticks) {
    if (counts_[ticks] > 0) return ticks;
  }
  // No short sample; long_max_ is 0 if there is no long one either.
  return long_max_ == 0 ? 0 : long_min_;
}

uint64_t TickHistogram::max() const {
  if (long_max_ > 0) return long_max_;
  uint64_t ticks = kExact - 1;
  while (ticks > 0 && counts_[ticks] == 0) --ticks;
  return ticks;
}

}  // namespace kvmatrix
