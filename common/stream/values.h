// Values: a function of (seed, key, version) that compresses to a given ratio.
// So is the size of each, where sizes differ.

#ifndef COMMON_STREAM_VALUES_H_
#define COMMON_STREAM_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/random/random.h"
#include "common/stream/value_sizes.h"

namespace kvmatrix {

// Generates values and recognises them.  A value is made of pieces of 100
// bytes; the first 100 * compression_ratio bytes of a piece are random and the
// rest repeats them, so that a simple compressor shrinks a value to that ratio.
// (The shape of db_bench's CompressibleString; unlike there, no two values
// share bytes, so that no cache or dictionary profits from a pool.)  Or, where
// another program is replayed, a value is a window of that program's pool.
class Values {
 public:
  // REQUIRES: 0 <= compression_ratio <= 1
  Values(uint64_t seed, const ValueSizes& sizes, double compression_ratio);

  // Values that are windows of `pool`, which outlives them: the version of a
  // key is the offset of its window plus one.
  // REQUIRES: pool.size() < 2^21; keys are below 2^31
  Values(std::string_view pool, size_t value_size);

  const ValueSizes& sizes() const { return sizes_; }

  // Bytes of the largest value: of every value, unless sizes differ.
  size_t value_size() const { return value_size_; }

  // Bytes that a buffer given to Write() must have.
  size_t buffer_size() const { return value_size_ + slack(); }

  // Bytes that a buffer given to WriteSized() must have.
  static size_t BufferSize(size_t size) { return size + kSlackOfAnySize; }

  // Writes the value and returns its size; the bytes past it, up to
  // buffer_size(), are scratch.  REQUIRES: version > 0
  size_t Write(uint64_t key, uint32_t version, char* buffer) const;

  // The same with a size that the caller knows, whatever sizes() says; the
  // bytes past it, up to BufferSize(size), are scratch.
  void WriteSized(uint64_t root, size_t size, char* buffer) const;

  // Bytes of the value that grows from `root`.
  size_t SizeOf(uint64_t root) const {
    return sizes_.fixed() ? value_size_ : sizes_.Of(root);
  }

  // What the value of `key` at `version` grows from.
  uint64_t Root(uint64_t key, uint32_t version) const {
    if (!pool_.empty()) [[unlikely]] {
      return key << kOffsetBits | ((version - 1) & kOffsetMask);
    }
    return MixProduct(key ^ seed_a_, version + seed_b_);
  }

  // True if `value` is, in every byte, what Write() writes of that root.
  bool IsValueOf(uint64_t root, std::string_view value) const;
  bool IsValueOf(uint64_t root, size_t size, std::string_view value) const;

  // Brings what the value is compared with into the processor's cache.
  void Prefetch(uint64_t root) const {
    if (pool_.empty()) return;
    const char* const window = Window(root).data();
    __builtin_prefetch(window);
    __builtin_prefetch(window + kCacheLine);
  }

  // A fingerprint of the value of `key` at `version`.  Sums of fingerprints are
  // the digests of measurements: two runs that read the same entries agree.
  uint64_t Fingerprint(uint64_t key, uint32_t version) const {
    return Fingerprint(Root(key, version));
  }
  static uint64_t Fingerprint(uint64_t root) { return Mix64(root); }

 private:
  // The last piece is written whole; where sizes differ, the last two.
  static constexpr size_t kSlack = 128;
  static constexpr size_t kSlackOfAnySize = 256;
  static constexpr int kOffsetBits = 21;
  static constexpr uint64_t kOffsetMask = (1 << kOffsetBits) - 1;

  static constexpr size_t kCacheLine = 64;  // bytes

  size_t slack() const { return sizes_.fixed() ? kSlack : kSlackOfAnySize; }
  size_t FastBytes(size_t size) const;
  void Fill(uint64_t root, size_t size, size_t fast_bytes, char* buffer) const;
  bool IsFilled(uint64_t root, size_t size, const char* value) const;

  // The value of that root, where values are windows.
  std::string_view Window(uint64_t root) const {
    return pool_.substr(root & kOffsetMask, value_size_);
  }

  const std::string_view pool_;
  const bool fixed_size_;  // no pool, and one size for all
  const uint64_t seed_a_;
  const uint64_t seed_b_;
  const ValueSizes sizes_;
  const size_t value_size_;
  const size_t random_bytes_;  // of each piece; the rest repeats them
  const size_t fast_bytes_;    // of all pieces, if they are half random
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_VALUES_H_
