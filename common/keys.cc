#include "common/keys.h"

#include <algorithm>

namespace kvmatrix {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

uint64_t Load(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Zero if all eight bytes are decimal digits.
constexpr uint64_t NotDigits(uint64_t word) {
  constexpr uint64_t kHighNibbles = 0xf0f0f0f0'f0f0f0f0;
  constexpr uint64_t kZeros = 0x30303030'30303030;
  constexpr uint64_t kSixes = 0x06060606'06060606;
  return ((word & kHighNibbles) ^ kZeros) |
         (((word + kSixes) & kHighNibbles) ^ kZeros);
}

// The number that eight digits spell, the first in the lowest byte: pairs, then
// fours, then all eight are joined by one multiplication each.
constexpr uint64_t Number(uint64_t word) {
  word -= 0x30303030'30303030;
  word = (word * 10 + (word >> 8)) & 0x00ff00ff'00ff00ff;
  word = (word * 100 + (word >> 16)) & 0x0000ffff'0000ffff;
  return (word * 10'000 + (word >> 32)) & 0xffffffff;
}

}  // namespace

std::optional<uint64_t> ParseKey(std::string_view key, size_t key_size) {
  static_assert(kKeyDigits == 2 * kWord);
  if (key.size() != key_size) return std::nullopt;
  const char* const digits = key.data() + key_size - kKeyDigits;
  const uint64_t high = Load(digits);
  const uint64_t low = Load(digits + kWord);
  const bool padded =
      std::all_of(key.data(), digits, [](char c) { return c == '0'; });
  if (!padded || (NotDigits(high) | NotDigits(low)) != 0) return std::nullopt;
  return Number(high) * 100'000'000 + Number(low);
}

}  // namespace kvmatrix
