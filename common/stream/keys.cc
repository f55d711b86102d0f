#include "common/stream/keys.h"

#include <algorithm>

namespace kvmatrix {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

uint64_t Load(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Returns zero if all eight bytes are decimal digits.  The high nibble of a
// digit is 3, and stays 3 when 6 is added; that of ':' to '?' becomes 4.
constexpr uint64_t NotDigits(uint64_t word) {
  constexpr uint64_t kHighNibbles = 0xf0f0f0f0'f0f0f0f0;
  constexpr uint64_t kZeros = 0x30303030'30303030;
  constexpr uint64_t kSixes = 0x06060606'06060606;
  return ((word & kHighNibbles) ^ kZeros) |
         (((word + kSixes) & kHighNibbles) ^ kZeros);
}

// Returns the number that eight digits spell, the first in the lowest byte.
// Each line joins neighbours (digits to pairs, pairs to fours, fours to eight)
// with one multiplication for all lanes.
constexpr uint64_t Number(uint64_t word) {
  word -= 0x30303030'30303030;
  word = (word * 10 + (word >> 8)) & 0x00ff00ff'00ff00ff;
  word = (word * 100 + (word >> 16)) & 0x0000ffff'0000ffff;
  return (word * 10'000 + (word >> 32)) & 0xffffffff;
}

bool IsFilled(const char* from, const char* to, char with) {
  return std::all_of(from, to, [with](char c) { return c == with; });
}

std::optional<uint64_t> ParseDecimal(std::string_view key) {
  static_assert(kKeyDigits == 2 * kWord);
  char padded[kKeyDigits];
  const char* digits = padded;
  if (key.size() >= kKeyDigits) {
    digits = key.data() + key.size() - kKeyDigits;
    if (!IsFilled(key.data(), digits, '0')) return std::nullopt;
  } else {
    std::memset(padded, '0', kKeyDigits);
    std::memcpy(padded + kKeyDigits - key.size(), key.data(), key.size());
  }
  const uint64_t high = Load(digits);
  const uint64_t low = Load(digits + kWord);
  if ((NotDigits(high) | NotDigits(low)) != 0) return std::nullopt;
  return Number(high) * 100'000'000 + Number(low);
}

std::optional<uint64_t> ParseInteger(std::string_view key, bool big) {
  const char* const begin = key.data();
  const char* const end = begin + key.size();
  const char* const word = big ? end - kWord : begin;
  const bool padded = IsFilled(begin, big ? word : begin, '\0') &&
                      IsFilled(big ? end : begin + kWord, end, '\0');
  const uint64_t loaded = Load(word);
  const uint64_t index = big ? __builtin_bswap64(loaded) : loaded;
  if (!padded || index >= kMaxKeys) return std::nullopt;
  return index;
}

}  // namespace

std::optional<uint64_t> ParseKey(std::string_view key, KeyShape shape) {
  if (key.size() != shape.size()) return std::nullopt;
  if (shape.format() == KeyFormat::kDecimal) return ParseDecimal(key);
  return ParseInteger(key, shape.format() == KeyFormat::kBig);
}

}  // namespace kvmatrix
