// Values: a function of (seed, key, version) that compresses to a given ratio.

#ifndef COMMON_VALUES_H_
#define COMMON_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/random.h"

namespace kvmatrix {

// Generates values and recognises them.  A value is made of pieces of 100
// bytes; the first 100 * compression_ratio bytes of a piece are random and the
// rest repeats them, so that a simple compressor shrinks a value to that ratio.
// (The shape of db_bench's CompressibleString; unlike there, no two values
// share bytes, so that no cache or dictionary profits from a pool.)
class Values {
 public:
  // REQUIRES: 0 <= compression_ratio <= 1
  Values(uint64_t seed, size_t value_size, double compression_ratio);

  size_t value_size() const { return value_size_; }

  // Bytes that a buffer given to Write() must have.
  size_t buffer_size() const { return value_size_ + kSlack; }

  // Writes the value; bytes past value_size() are scratch.
  // REQUIRES: version > 0
  void Write(uint64_t key, uint32_t version, char* buffer) const;

  // What the value of `key` at `version` grows from.
  uint64_t Root(uint64_t key, uint32_t version) const {
    return MixProduct(key ^ seed_a_, version + seed_b_);
  }

  // True if `value` is, in every byte, what Write() writes.
  bool Matches(uint64_t key, uint32_t version, std::string_view value) const {
    return GrowsFrom(Root(key, version), value);
  }
  bool GrowsFrom(uint64_t root, std::string_view value) const;

  // A fingerprint of the value of `key` at `version`.  Sums of fingerprints are
  // the digests of measurements: two runs that read the same entries agree.
  uint64_t Fingerprint(uint64_t key, uint32_t version) const {
    return Fingerprint(Root(key, version));
  }
  static uint64_t Fingerprint(uint64_t root) { return Mix64(root); }

 private:
  static constexpr size_t kSlack = 64;

  const uint64_t seed_a_;
  const uint64_t seed_b_;
  const size_t value_size_;
  const size_t random_bytes_;  // of each piece; the rest repeats them
  const size_t fast_bytes_;    // in whole pieces that are half random
};

}  // namespace kvmatrix

#endif  // COMMON_VALUES_H_
