// Deterministic random numbers: one master seed, and independent streams by
// name.
//
// Everything that a run draws (keys, values, operation types, arrival times)
// comes from a stream of this file, so that equal seeds give equal work on
// every engine and machine.  All functions are pure; a Random belongs to one
// thread.
//
//   Random random(StreamSeed(config.seed, "name of the stream", 0));
//   const uint64_t key = random.Uniform(keys);
//
// Golden values in the tests pin the streams: a change makes results
// incomparable (kMethod in run/measurement.h).  Not for cryptography.

#ifndef COMMON_RANDOM_RANDOM_H_
#define COMMON_RANDOM_RANDOM_H_

#include <cstdint>
#include <string_view>

namespace kvmatrix {

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014): a bijection on 64 bits in
// which each input bit affects each output bit.
constexpr uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The high and the low half of the 128-bit product, xored: the mixing step of
// wyhash.  Not a bijection.
constexpr uint64_t MixProduct(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Returns the seed of the stream called `name`, the `occurrence`-th (from 0) of
// that name in a process.  Streams that differ in name, occurrence or master
// seed are unrelated, so that no benchmark replays the keys of another one:
// their cache hits would be correlated.
constexpr uint64_t StreamSeed(uint64_t master_seed, std::string_view name,
                              uint64_t occurrence) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over the name
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return Mix64(Mix64(master_seed + 0x9e3779b97f4a7c15u) ^ hash) +
         Mix64(occurrence + 1);
}

// SplitMix64: 64 bits of state, period 2^64.  A draw is a few instructions.
// Copies continue with the same numbers.  Not thread-safe.
class Random {
 public:
  explicit constexpr Random(uint64_t seed) : state_(seed) {}

  // Returns 64 random bits.
  constexpr uint64_t Next() { return Mix64(state_ += 0x9e3779b97f4a7c15u); }

  // Returns a number in [0, n), by multiplication (Lemire, "Fast random integer
  // generation in an interval", 2019) without the rejection step: the bias is
  // below n / 2^64.  REQUIRES: n > 0
  constexpr uint64_t Uniform(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >>
                                 64);
  }

  // Returns a number in [0, 1): the first 53 bits.
  constexpr double Unit() {
    return static_cast<double>(Next() >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_RANDOM_H_
