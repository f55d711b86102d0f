// Keys: how the index of an entry is written as bytes, and parsed back.
//
// KeyWriter and ParseKey() are each other's inverses for every index below
// KeyShape::capacity().  Both run in timed loops and allocate nothing.  The
// code assumes a little-endian processor.

#ifndef COMMON_STREAM_KEYS_H_
#define COMMON_STREAM_KEYS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "common/spec/key_shape.h"

namespace kvmatrix {

static_assert(std::endian::native == std::endian::little);

namespace internal {

// Returns the eight ASCII digits of n, the first one in the lowest byte.
// Splits n into halves, then quarters, then digits, all lanes of a level at
// once: x * 10486 >> 20 is x / 100 for x < 10^4, and x * 103 >> 10 is x / 10
// for x < 100.  REQUIRES: n < 10^8
constexpr uint64_t EightDigits(uint64_t n) {
  uint64_t x = n / 10'000 | (n % 10'000) << 32;
  uint64_t quotient = ((x * 10'486) >> 20) & 0x0000007f'0000007f;
  x = quotient | (x - quotient * 100) << 16;
  quotient = ((x * 103) >> 10) & 0x000f000f'000f000f;
  return (quotient | (x - quotient * 10) << 8) | 0x30303030'30303030;
}

}  // namespace internal

// Writes keys into memory of the caller.  The memory is padded once, so that
// each write touches only the digits:
//
//   const KeyWriter writer(shape);
//   std::vector<char> keys(count * shape.size(), shape.pad());
//   writer.Write(index, keys.data() + i * shape.size());  // in the loop
//
// Immutable, cheap to copy; thread-safe.
class KeyWriter {
 public:
  explicit KeyWriter(KeyShape shape)
      : shape_(shape),
        fast_(shape.format() == KeyFormat::kDecimal &&
              shape.size() >= kKeyDigits) {}

  const KeyShape& shape() const { return shape_; }

  // Writes the key of `index` to `key`.  Only bytes that depend on the index
  // are written: the last 16 of a decimal key (all, if it is shorter), eight of
  // another one.
  // REQUIRES: index < shape().capacity(); `key` has shape().size() bytes, which
  // are all pad() or hold the key of another index
  void Write(uint64_t index, char* key) const {
    if (fast_) {
      WriteDigits(index, key + shape_.size() - kKeyDigits);
    } else {
      WriteOther(index, key);
    }
  }

 private:
  // Writes kKeyDigits digits, most significant first.  Indexes below 10^8 skip
  // a division: their upper eight digits are zeros.
  static void WriteDigits(uint64_t index, char* digits) {
    constexpr uint64_t kHalf = 100'000'000;
    uint64_t high = internal::EightDigits(0);
    if (index >= kHalf) {
      high = internal::EightDigits(index / kHalf);
      index %= kHalf;
    }
    const uint64_t low = internal::EightDigits(index);
    std::memcpy(digits, &high, sizeof(high));
    std::memcpy(digits + sizeof(high), &low, sizeof(low));
  }

  // Decimal keys of fewer than 16 bytes, and integers.
  void WriteOther(uint64_t index, char* key) const {
    if (shape_.format() == KeyFormat::kDecimal) {
      char digits[kKeyDigits];
      WriteDigits(index, digits);
      std::memcpy(key, digits + kKeyDigits - shape_.size(), shape_.size());
    } else if (shape_.format() == KeyFormat::kBig) {
      index = __builtin_bswap64(index);
      std::memcpy(key + shape_.size() - sizeof(index), &index, sizeof(index));
    } else {
      std::memcpy(key, &index, sizeof(index));
    }
  }

  const KeyShape shape_;
  const bool fast_;  // decimal, and all of kKeyDigits fit
};

// Writes one key at a time into a buffer of its own, of the size of a key.  For
// code that needs one key at a time; a block of keys has a KeyWriter and memory
// for all.  Not thread-safe.
class KeyBuffer {
 public:
  explicit KeyBuffer(KeyShape shape)
      : writer_(shape), bytes_(shape.size(), shape.pad()) {}

  // Returns the key of `index`, valid until the next call.
  // REQUIRES: index < KeyShape::capacity()
  std::string_view Set(uint64_t index) {
    writer_.Write(index, bytes_.data());
    return bytes_;
  }

 private:
  const KeyWriter writer_;
  std::string bytes_;
};

// Returns the index of a key that KeyWriter wrote, or nothing for any other
// bytes: another size, another padding, a character that is not a digit, or an
// index of kMaxKeys or more.  The index need not be below the key space of the
// run.  Never throws; `key` may be what a broken engine returned.
std::optional<uint64_t> ParseKey(std::string_view key, KeyShape shape);

}  // namespace kvmatrix

#endif  // COMMON_STREAM_KEYS_H_
