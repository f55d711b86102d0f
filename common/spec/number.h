// Numbers as people write them: 1000, 1e3, 1k, 8MiB, 1.5h.
//
// One spelling for flags, lists and --after; report/terms/units.py reads the
// same one in Python.  Pure functions.

#ifndef COMMON_SPEC_NUMBER_H_
#define COMMON_SPEC_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvmatrix {

// Returns the text without blanks around it.
std::string_view Trimmed(std::string_view text);

// What a number counts, which decides the units that it may have.
enum class Unit {
  kCount,    // k, M, G and T are powers of 1000
  kBytes,    // B, KiB, MiB, GiB and TiB are powers of 1024
  kSeconds,  // ms, s, min and h
  kUnknown,  // of an engine's own flag: those of kBytes
};

// Returns the integer that the text is exactly: "1.5k" is 1500, and "1.5" is
// none.  None also for an amount above 2^64 - 1, whatever its sign.  Blanks
// around the number and before its unit do not matter, nor does a single '_'
// between two digits.
struct Integer {
  bool negative = false;
  uint64_t amount = 0;
};
std::optional<Integer> ParseInteger(std::string_view text, Unit unit);

// Returns the same as a count; none for a negative one.
std::optional<uint64_t> ParseCount(std::string_view text);

// Returns the number; none if it is not finite.  Seconds for kSeconds.
std::optional<double> ParseNumber(std::string_view text, Unit unit);

// Returns how the text should have been written, such as "write 8MiB"; empty if
// nothing is known about it.
std::string SpellingHint(std::string_view text, Unit unit);

}  // namespace kvmatrix

#endif  // COMMON_SPEC_NUMBER_H_
