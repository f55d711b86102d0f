#include "common/spec/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace kvmatrix {
namespace {

using Wide = unsigned __int128;

// A unit: the number times `factor` and divided by `divisor`.
struct Scale {
  std::string_view name;
  uint64_t factor;
  uint64_t divisor = 1;
};

constexpr Scale kCounts[] = {
    {"", 1},          {"k", 1'000},         {"K", 1'000},
    {"M", 1'000'000}, {"G", 1'000'000'000}, {"T", 1'000'000'000'000}};
constexpr Scale kSizes[] = {{"", 1},
                            {"B", 1},
                            {"KiB", 1ull << 10},
                            {"MiB", 1ull << 20},
                            {"GiB", 1ull << 30},
                            {"TiB", 1ull << 40}};
constexpr Scale kTimes[] = {
    {"", 1}, {"s", 1}, {"ms", 1, 1'000}, {"min", 60}, {"h", 3'600}};

std::span<const Scale> ScalesOf(Unit unit) {
  if (unit == Unit::kCount) return kCounts;
  if (unit == Unit::kSeconds) return kTimes;
  return kSizes;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A text in its parts: [-]digits[.digits][e[+-]digits] and the unit.
struct Parts {
  bool negative = false;
  std::string digits;  // of the whole and of the fraction
  int exponent = 0;    // of ten, by which they are multiplied
  std::string number;  // all of it, for std::from_chars
  std::string_view unit;
};

// Moves the digits at the front of `text` to `digits`.
bool TakeDigits(std::string_view& text, std::string& digits) {
  size_t end = 0;
  while (end < text.size() &&
         (IsDigit(text[end]) ||
          (text[end] == '_' && end > 0 && IsDigit(text[end - 1]) &&
           end + 1 < text.size() && IsDigit(text[end + 1])))) {
    if (text[end] != '_') digits += text[end];
    ++end;
  }
  text.remove_prefix(end);
  return end > 0;
}

std::optional<Parts> PartsOf(std::string_view text) {
  Parts parts;
  text = Trimmed(text);
  if (text.starts_with('-') || text.starts_with('+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  bool some = TakeDigits(text, parts.digits);
  const size_t whole = parts.digits.size();
  parts.number = parts.digits;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    some |= TakeDigits(text, parts.digits);
    parts.number += "." + parts.digits.substr(whole);
  }
  if (!some) return {};
  parts.exponent = -static_cast<int>(parts.digits.size() - whole);
  if (text.starts_with('e') || text.starts_with('E')) {
    std::string_view rest = text.substr(1);
    const bool minus = rest.starts_with('-');
    if (minus || rest.starts_with('+')) rest.remove_prefix(1);
    const std::string power(rest.substr(
        0, std::min(rest.find_first_not_of("0123456789"), rest.size())));
    // No number of ours has a power of more digits.
    if (power.empty() || power.size() > 4) return {};
    rest.remove_prefix(power.size());
    parts.exponent += (minus ? -1 : 1) * std::stoi(power);
    parts.number += (minus ? "e-" : "e") + power;
    text = rest;
  }
  parts.unit = Trimmed(text);
  return parts;
}

const Scale* FindScale(Unit unit, std::string_view name) {
  for (const Scale& scale : ScalesOf(unit)) {
    if (scale.name == name) return &scale;
  }
  return nullptr;
}

// Returns amount * 10^exponent / divisor if that is a 64-bit integer.
std::optional<uint64_t> Exact(Wide amount, int exponent, uint64_t divisor) {
  constexpr Wide kMost = std::numeric_limits<uint64_t>::max();
  for (; amount > 0 && exponent > 0; --exponent) {
    if (amount > kMost * divisor / 10) return {};
    amount *= 10;
  }
  for (; amount > 0 && exponent < 0; ++exponent) {
    if (amount % 10 != 0) return {};
    amount /= 10;
  }
  if (amount % divisor != 0 || amount / divisor > kMost) return {};
  return static_cast<uint64_t>(amount / divisor);
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  constexpr char kBlanks[] = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::optional<Integer> ParseInteger(std::string_view text, Unit unit) {
  std::optional<Parts> parts = PartsOf(text);
  if (!parts) return {};
  const Scale* const scale = FindScale(unit, parts->unit);
  if (scale == nullptr) return {};
  std::string& digits = parts->digits;
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++parts->exponent;
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return Integer{};
  // 2^64 has twenty digits, and a unit of 2^40 makes an integer of up to forty
  // decimals: more of them are no integer.
  uint64_t amount = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), amount);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  const std::optional<uint64_t> exact =
      Exact(Wide{amount} * scale->factor, parts->exponent, scale->divisor);
  if (!exact) return {};
  return Integer{parts->negative && *exact > 0, *exact};
}

std::optional<uint64_t> ParseCount(std::string_view text) {
  const std::optional<Integer> number = ParseInteger(text, Unit::kCount);
  if (!number || number->negative) return {};
  return number->amount;
}

std::optional<double> ParseNumber(std::string_view text, Unit unit) {
  const std::optional<Parts> parts = PartsOf(text);
  if (!parts) return {};
  const Scale* const scale = FindScale(unit, parts->unit);
  if (scale == nullptr) return {};
  const std::string& digits = parts->number;
  double number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  number *= static_cast<double>(scale->factor);
  number /= static_cast<double>(scale->divisor);
  if (!std::isfinite(number)) return {};
  return parts->negative ? -number : number;
}

std::string SpellingHint(std::string_view text, Unit unit) {
  const std::optional<Parts> parts = PartsOf(text);
  if (!parts || parts->unit.empty()) return "";
  std::string names;
  for (const Scale& scale : ScalesOf(unit)) {
    if (scale.name.empty() || scale.name == "K") continue;
    names += (names.empty() ? "" : ", ") + std::string(scale.name);
  }
  constexpr std::string_view kPowers = "KMGT";
  const char letter = static_cast<char>(parts->unit.front() & ~0x20);
  std::string hint = "the units are " + names;
  if (ScalesOf(unit).data() == kSizes && kPowers.find(letter) != kPowers.npos) {
    // 8M is 8,000,000 in one program and 8,388,608 in another.
    const std::string number(parts->negative ? "-" : "");
    hint = "write " + number + parts->number + letter + "iB for units of 2^" +
           std::to_string(10 * (kPowers.find(letter) + 1)) + " bytes";
  }
  return hint;
}

}  // namespace kvmatrix
