// Latencies in nanoseconds, with a relative error below 1 %.
//
// What results contain; loops record TickHistograms.

#ifndef COMMON_RECORDING_HISTOGRAM_H_
#define COMMON_RECORDING_HISTOGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/recording/log_linear.h"
#include "common/recording/tick_histogram.h"

namespace kvmatrix {

// A percentile in units of 0.01 %: 9999 is p99.99.  An integer, because 100,000
// * (1 - 0.9999) is less than 10 in floating point.
using Percentile = uint64_t;
// Those that ToString() shows: p50, p90, p99, p99.9 and p99.99.
inline constexpr Percentile kPercentiles[] = {5000, 9000, 9900, 9990, 9999};

// The result of a loop, converted from the clock's ticks.  Count, minimum,
// maximum and sum are exact, up to the precision of the length of a tick.
// Immutable; thread-safe.
class Histogram {
 public:
  // Every sample of a bucket of `ticks` is placed at that bucket's middle: an
  // error of at most 0.2 %, to which the buckets here add 0.8 %.  `ns_per_tick`
  // is 1 if the samples are nanoseconds already.
  Histogram(const TickHistogram& ticks, double ns_per_tick);

  // Adds the samples of another one.
  Histogram& operator+=(const Histogram& more);

  // Number of samples, and exact statistics of them; all 0 if there are none.
  uint64_t count() const { return count_; }
  uint64_t sum_ns() const { return sum_ns_; }
  uint64_t min_ns() const { return min_ns_; }
  uint64_t max_ns() const { return max_ns_; }

  // Returns the largest of the latencies up to `percentile`, accurate to 1 %:
  // the upper edge of its bucket, or max_ns() if that is smaller.  Nothing if
  // fewer than ten samples lie above the percentile, which would make it a
  // matter of chance: p99.99 needs 100,000 samples. REQUIRES: percentile <=
  // 10000
  std::optional<uint64_t> At(Percentile percentile) const;

  // A bucket with both ends included.
  struct Bucket {
    uint64_t lower_ns;  // smallest value in the bucket
    uint64_t upper_ns;  // largest value in the bucket
    uint64_t count;
  };
  // The buckets that contain samples, in ascending order and without overlap.
  // Their counts add up to count().
  const std::vector<Bucket>& buckets() const { return buckets_; }

  // Returns two lines of text, in microseconds; "-" for a percentile with
  // too few samples.
  std::string ToString() const;

  // Returns the samples in wider buckets, a line for each that has any: its
  // ends in microseconds, the count, its share, and that of all up to it.
  std::string BucketsText() const;

 private:
  using Grid = LogLinear<7>;

  uint64_t count_;
  uint64_t sum_ns_;
  uint64_t min_ns_;
  uint64_t max_ns_;
  std::vector<Bucket> buckets_;
};

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_HISTOGRAM_H_
