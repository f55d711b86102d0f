// The generator of LevelDB's db_bench, for replaying its streams.

#ifndef COMMON_RANDOM_LEVELDB_RANDOM_H_
#define COMMON_RANDOM_LEVELDB_RANDOM_H_

#include <cstdint>

namespace kvmatrix {

// seed * 16807 mod (2^31 - 1) (Park and Miller, "minimal standard"), from a
// seed of 31 bits; 0 and 2^31 - 1, which it would never leave, become 1.  As in
// LevelDB 1.23, util/random.h.  The bias of Uniform() and the 31 bits are part
// of the stream.
class LevelDbRandom {
 public:
  explicit constexpr LevelDbRandom(uint32_t seed) : state_(seed & kModulus) {
    if (state_ == 0 || state_ == kModulus) state_ = 1;
  }

  // In [1, 2^31 - 2].
  constexpr uint32_t Next() {
    const uint64_t product = uint64_t{state_} * 16807;
    // 2^31 is 1 modulo 2^31 - 1: the high bits are added to the low ones.
    const uint64_t sum = (product >> 31) + (product & kModulus);
    state_ = static_cast<uint32_t>(sum > kModulus ? sum - kModulus : sum);
    return state_;
  }

  // In [0, n).  REQUIRES: 0 < n < 2^31
  constexpr uint32_t Uniform(uint32_t n) { return Next() % n; }

 private:
  static constexpr uint32_t kModulus = 0x7fffffff;

  uint32_t state_;
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_LEVELDB_RANDOM_H_
