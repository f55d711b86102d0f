// Parses the command line into gflags, in place of gflags' own parser, whose
// errors end the process with exit status 1 and name no program.

#ifndef COMMON_CLI_PARSE_FLAGS_H_
#define COMMON_CLI_PARSE_FLAGS_H_

#include <span>

namespace kvmatrix {

// Sets the flags that these words name, each "--name=value" or "--name value",
// with one or two dashes; a bool flag also "--name" or "--noname".  If a flag
// is named twice, its last value counts.  Throws UsageError for the first word
// that is not a flag of the table or of the driver, and for the first value
// that has not the type of its flag.  Ranges are checked by ConfigFromFlags().
void ParseFlags(std::span<const char* const> words);

}  // namespace kvmatrix

#endif  // COMMON_CLI_PARSE_FLAGS_H_
