// A histogram of latencies with a relative error below 0.8 %.

#ifndef COMMON_HISTOGRAM_H_
#define COMMON_HISTOGRAM_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kvmatrix {

// Log-linear buckets, 128 to each power of two, over all of uint64_t (the
// design of HdrHistogram).  Count, minimum, maximum and sum are exact.
class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  void Add(uint64_t ns) {
    ++counts_[Index(ns)];
    ++count_;
    sum_ += ns;
    if (ns < min_) min_ = ns;
    if (ns > max_) max_ = ns;
  }

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }

  // The value that `percent` of the samples do not exceed, to the bucket's
  // upper edge, or max() if that is smaller.  REQUIRES: count() > 0
  uint64_t Percentile(double percent) const;

  struct Bucket {
    uint64_t lower;  // smallest value in the bucket
    uint64_t upper;  // largest value in the bucket
    uint64_t count;
  };
  // The buckets that hold samples, in ascending order.
  std::vector<Bucket> Buckets() const;

  // The text that db_bench prints under a stat line, in microseconds.
  std::string ToString() const;

 private:
  static constexpr int kSubBits = 7;
  static constexpr uint64_t kSub = uint64_t{1} << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits + 1) * kSub;

  static size_t Index(uint64_t ns) {
    if (ns < kSub) return ns;
    const int shift = std::bit_width(ns) - kSubBits - 1;
    return (static_cast<size_t>(shift) << kSubBits) + (ns >> shift);
  }
  static uint64_t Lower(size_t index);

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_HISTOGRAM_H_
