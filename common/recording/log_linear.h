// The bucket boundaries of a log-linear histogram.

#ifndef COMMON_RECORDING_LOG_LINEAR_H_
#define COMMON_RECORDING_LOG_LINEAR_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kvmatrix {

// 2^kSubBits buckets to each power of two, over all of uint64_t (the design of
// HdrHistogram, hdrhistogram.org).  Each value below 2^(kSubBits + 1) has a
// bucket of its own; every other bucket spans at most 1 / 2^kSubBits of its
// values, which bounds the relative error of a value that is known by its
// bucket.
//
// The buckets are numbered from 0 to kBuckets - 1, cover each value once and
// ascend with their values: Lower(i) <= v <= Upper(i) exactly if Index(v) == i.
//
// Pure functions; thread-safe.
template <int kSubBits>
struct LogLinear {
  // Buckets to each power of two, and buckets in all.
  static constexpr uint64_t kSub = uint64_t{1} << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits + 1) * kSub;

  // Returns the bucket of `value`: the position of its highest bit selects a
  // block of buckets, the kSubBits bits below that the bucket.  A few
  // instructions without a loop, for use in timed loops.
  static size_t Index(uint64_t value) {
    if (value < kSub) return value;
    const int shift = std::bit_width(value) - kSubBits - 1;
    return (static_cast<size_t>(shift) << kSubBits) + (value >> shift);
  }

  // The smallest and the largest value of a bucket, both included.
  // REQUIRES: index < kBuckets
  static uint64_t Lower(size_t index) {
    if (index < 2 * kSub) return index;
    const int shift = static_cast<int>(index >> kSubBits) - 1;
    return (kSub + (index & (kSub - 1))) << shift;
  }
  static uint64_t Upper(size_t index) {
    return index + 1 < kBuckets ? Lower(index + 1) - 1
                                : std::numeric_limits<uint64_t>::max();
  }
};

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_LOG_LINEAR_H_
