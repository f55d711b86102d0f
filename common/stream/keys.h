// Keys: how the index of an entry is written as bytes, and parsed back.

#ifndef COMMON_STREAM_KEYS_H_
#define COMMON_STREAM_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "common/spec/key_shape.h"

namespace kvmatrix {

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

// Writes keys into memory of the caller.  Const methods are thread-safe.
class KeyWriter {
 public:
  explicit KeyWriter(KeyShape shape)
      : shape_(shape),
        fast_(shape.format() == KeyFormat::kDecimal &&
              shape.size() >= kKeyDigits) {}

  const KeyShape& shape() const { return shape_; }

  // Writes the key of `index` to `key`.  Only bytes that depend on the index
  // are written.  REQUIRES: index < shape().capacity(); `key` has
  // shape().size() bytes, which are all pad() or hold the key of another index
  void Write(uint64_t index, char* key) const {
    if (fast_) {
      WriteDigits(index, key + shape_.size() - kKeyDigits);
    } else {
      WriteOther(index, key);
    }
  }

 private:
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
  const bool fast_;
};

// Writes one key at a time into a buffer of its own.  Not thread-safe.
class KeyBuffer {
 public:
  explicit KeyBuffer(KeyShape shape)
      : writer_(shape), bytes_(shape.size(), shape.pad()) {}

  // Returns the key of `index`, valid until the next call.  REQUIRES: index <
  // KeyShape::capacity()
  std::string_view Set(uint64_t index) {
    writer_.Write(index, bytes_.data());
    return bytes_;
  }

 private:
  const KeyWriter writer_;
  std::string bytes_;
};

// Returns the index of a key that KeyWriter wrote, or nothing for any other
// bytes.  Never throws; `key` may be what a broken engine returned.
std::optional<uint64_t> ParseKey(std::string_view key, KeyShape shape);

}  // namespace kvmatrix

#endif  // COMMON_STREAM_KEYS_H_
