// Keys: an index as decimal digits, padded with zeros, as in db_bench.

#ifndef COMMON_KEYS_H_
#define COMMON_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace kvmatrix {

// Digits in which an index is written; a longer key has more zeros in front.
inline constexpr size_t kKeyDigits = 16;
inline constexpr uint64_t kMaxKeys = 10'000'000'000'000'000;

namespace internal {

// The eight digits of n as bytes, the first digit in the lowest byte.
// REQUIRES: n < 10^8
constexpr uint64_t EightDigits(uint64_t n) {
  uint64_t x = n / 10'000 | (n % 10'000) << 32;
  uint64_t quotient = ((x * 10'486) >> 20) & 0x0000007f'0000007f;
  x = quotient | (x - quotient * 100) << 16;
  quotient = ((x * 103) >> 10) & 0x000f000f'000f000f;
  return (quotient | (x - quotient * 10) << 8) | 0x30303030'30303030;
}

}  // namespace internal

// Writes one key at a time into a buffer of its own.
class KeyBuffer {
 public:
  // REQUIRES: key_size >= kKeyDigits
  explicit KeyBuffer(size_t key_size) : bytes_(key_size, '0') {}

  // The key of `index`, valid until the next call.  REQUIRES: index < kMaxKeys
  std::string_view Set(uint64_t index) {
    Write(index, bytes_.data() + bytes_.size() - kKeyDigits);
    return bytes_;
  }

  // Writes kKeyDigits bytes.
  static void Write(uint64_t index, char* digits) {
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

 private:
  std::string bytes_;
};

// The index of a key written by KeyBuffer, or nothing if it is no such key.
std::optional<uint64_t> ParseKey(std::string_view key, size_t key_size);

}  // namespace kvmatrix

#endif  // COMMON_KEYS_H_
