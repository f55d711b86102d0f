// The generator of LevelDB's db_bench, for replaying its streams.

#ifndef COMMON_RANDOM_LEVELDB_RANDOM_H_
#define COMMON_RANDOM_LEVELDB_RANDOM_H_

#include <cstdint>

namespace kvmatrix {

// A multiplicative congruential generator: seed * 16807 mod (2^31 - 1) (Park
// and Miller, "Random number generators: good ones are hard to find", CACM
// 31(10), 1988, the "minimal standard").  Same numbers as util/random.h of
// LevelDB 1.23.
//
// Its weaknesses, 31 bits of state and a biased Uniform(), are part of the
// stream that is replayed: use Random for everything else.  Not thread-safe.
class LevelDbRandom {
 public:
  // Only the low 31 bits of `seed` are used.  0 and 2^31 - 1, which the
  // generator would never leave, become 1.
  explicit constexpr LevelDbRandom(uint32_t seed) : state_(seed & kModulus) {
    if (state_ == 0 || state_ == kModulus) state_ = 1;
  }

  // Returns the next number, in [1, 2^31 - 2].
  constexpr uint32_t Next() {
    const uint64_t product = uint64_t{state_} * 16807;
    // 2^31 is 1 modulo 2^31 - 1, so the high bits can be added to the low ones.
    const uint64_t sum = (product >> 31) + (product & kModulus);
    state_ = static_cast<uint32_t>(sum > kModulus ? sum - kModulus : sum);
    return state_;
  }

  // Returns a number in [0, n), slightly biased unless n divides 2^31 - 2.
  // REQUIRES: 0 < n < 2^31
  constexpr uint32_t Uniform(uint32_t n) { return Next() % n; }

 private:
  static constexpr uint32_t kModulus = 0x7fffffff;

  uint32_t state_;
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_LEVELDB_RANDOM_H_
