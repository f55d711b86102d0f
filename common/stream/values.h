// Values: every byte is a function of (seed, key, version), so that the oracle
// needs to store no value and each one that an engine returns can be checked in
// full.

#ifndef COMMON_STREAM_VALUES_H_
#define COMMON_STREAM_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/random/random.h"
#include "common/stream/value_sizes.h"

namespace kvmatrix {

// Generates values and recognises them.
//
// A value consists of pieces of 100 bytes.  The first 100 * compression_ratio
// bytes of a piece are random and the rest repeats them, so that a simple
// compressor shrinks the value to that ratio.  The shape is that of db_bench's
// CompressibleString, but no two values share bytes: a cache or a dictionary
// cannot profit from a common pool.  Where another program is replayed, a value
// is a window of that program's pool instead.
//
// The root of a value is a 64-bit hash of seed, key and version from which all
// its bytes, and its size where sizes vary, are derived.
//
// Immutable; thread-safe.
class Values {
 public:
  // REQUIRES: 0 <= compression_ratio <= 1
  Values(uint64_t seed, const ValueSizes& sizes, double compression_ratio);

  // Values that are windows of `pool`, which outlives this object: the version
  // of a key is the offset of its window plus one.  REQUIRES: pool.size() <
  // 2^21; keys are below 2^31
  Values(std::string_view pool, size_t value_size);

  const ValueSizes& sizes() const { return sizes_; }

  // Bytes of the largest value: of every value, unless sizes vary.
  size_t value_size() const { return value_size_; }

  // Bytes that a buffer passed to Write() must have.
  size_t buffer_size() const { return value_size_ + slack(); }

  // Bytes that a buffer passed to WriteSized() must have.
  static size_t BufferSize(size_t size) { return size + kSlackOfAnySize; }

  // Writes the value to `buffer` and returns its size.  The bytes after the
  // value, up to buffer_size(), are overwritten with rubbish.  REQUIRES:
  // version > 0; `buffer` has buffer_size() bytes
  size_t Write(uint64_t key, uint32_t version, char* buffer) const;

  // Writes the first `size` bytes of the value with this root, whatever sizes()
  // says.  The bytes after it, up to BufferSize(size), are overwritten with
  // rubbish.
  void WriteSized(uint64_t root, size_t size, char* buffer) const;

  // Returns the size of the value with this root.
  size_t SizeOf(uint64_t root) const {
    return sizes_.fixed() ? value_size_ : sizes_.Of(root);
  }

  // Returns the root of the value of `key` at `version`.
  uint64_t Root(uint64_t key, uint32_t version) const {
    if (!pool_.empty()) [[unlikely]] {
      return key << kOffsetBits | ((version - 1) & kOffsetMask);
    }
    return MixProduct(key ^ seed_a_, version + seed_b_);
  }

  // True if `value` equals, in every byte, the value that Write() writes for
  // this root, or the one that WriteSized() writes for root and size.
  bool IsValueOf(uint64_t root, std::string_view value) const;
  bool IsValueOf(uint64_t root, size_t size, std::string_view value) const;

  // Fetches what the value will be compared with into the processor's cache.
  // Does nothing for generated values, which are recomputed in registers.
  void Prefetch(uint64_t root) const {
    if (pool_.empty()) return;
    const char* const window = Window(root).data();
    __builtin_prefetch(window);
    __builtin_prefetch(window + kCacheLine);
  }

  // Returns a 64-bit fingerprint of the value.  Digests of results are sums of
  // fingerprints, which do not depend on the order: two runs that read the same
  // entries have the same digest.
  uint64_t Fingerprint(uint64_t key, uint32_t version) const {
    return Fingerprint(Root(key, version));
  }
  static uint64_t Fingerprint(uint64_t root) { return Mix64(root); }

 private:
  // The fast path writes whole pieces; where sizes vary, pairs of pieces.
  static constexpr size_t kSlack = 128;
  static constexpr size_t kSlackOfAnySize = 256;
  static constexpr int kOffsetBits = 21;
  static constexpr uint64_t kOffsetMask = (1 << kOffsetBits) - 1;

  static constexpr size_t kCacheLine = 64;  // bytes

  size_t slack() const { return sizes_.fixed() ? kSlack : kSlackOfAnySize; }
  size_t FastBytes(size_t size) const;
  void Fill(uint64_t root, size_t size, size_t fast_bytes, char* buffer) const;
  bool IsFilled(uint64_t root, size_t size, const char* value) const;

  // The value with this root, where values are windows.
  std::string_view Window(uint64_t root) const {
    return pool_.substr(root & kOffsetMask, value_size_);
  }

  const std::string_view pool_;
  const bool fixed_size_;  // generated, and all of one size: the fast path
  const uint64_t seed_a_;
  const uint64_t seed_b_;
  const ValueSizes sizes_;
  const size_t value_size_;
  const size_t random_bytes_;  // of each piece; the rest repeats them
  const size_t fast_bytes_;    // written half-random piece by piece
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_VALUES_H_
