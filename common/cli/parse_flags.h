// Parses the command line into gflags, in place of gflags' own parser, whose
// errors end the process with exit status 1 and name no program.

#ifndef COMMON_CLI_PARSE_FLAGS_H_
#define COMMON_CLI_PARSE_FLAGS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/driver.h"
#include "common/spec/config.h"

namespace kvmatrix {

// The longest word on the command line, in bytes.
inline constexpr size_t kMaxWord = 65'536;

// The largest value of an engine's own flag of 64 bits: the size of any memory,
// and little enough that an engine can multiply it.
inline constexpr uint64_t kMaxEngineNumber = uint64_t{1} << 44;

// Throws UsageError unless the driver's name and the names of its flags can be
// words of a command line and parts of a path, and no flag of the driver hides
// what the words mean without it: --check, --driver, --crash_test, the negation
// of a common flag.
void CheckNames(const Driver& driver);

// What the process is asked to do.
enum class Action { kRun, kHelp, kVersion, kDescribe, kCheck };

// Returns what a word such as "--describe" asks for, with one or two dashes,
// wherever it is; of several, the first in the order of Action.  Throws
// UsageError if such a word has a value, or if any word is longer than
// kMaxWord.
Action ActionOf(std::span<const char* const> words);

// Sets the flags that these words name, each "--name=value" or "--name value",
// with one or two dashes; a bool flag also "--name" or "--noname".  If a flag
// is named twice, its last value counts.  Words of ActionOf() are skipped.
// Throws UsageError for the first word that is not a flag of the table or of
// the driver, and for the first value that has not the type of its flag.
// Ranges are checked by ConfigFromFlags(), except kMaxEngineNumber.
//
// If they replay another program (--stream), flags that they leave out are set
// as in that program: to driver.program_flags.
void ParseFlags(std::span<const char* const> words, const Driver& driver);

// Returns the words that ParseFlags() adds: `driver.program_flags`, or none.
std::span<const char* const> ProgramFlags(const Driver& driver,
                                          StreamKind stream);

}  // namespace kvmatrix

#endif  // COMMON_CLI_PARSE_FLAGS_H_
