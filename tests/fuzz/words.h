// From the bytes of a fuzzer to the options of a process.

#ifndef TESTS_FUZZ_WORDS_H_
#define TESTS_FUZZ_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/spec/config.h"

namespace kvmatrix::fuzz {

// Ends the process with SIGABRT after printing the promise that was broken.
[[noreturn]] void Fail(const std::string& promise);
inline void Require(bool holds, const char* promise) {
  if (!holds) Fail(promise);
}

// Returns the words of an input, one on each line.  As in argv, none contains a
// zero byte.
std::vector<std::string> WordsOf(std::string_view input);

// Parses the words as main() does; nothing if they are refused, or ask for
// something other than a run.  Whatever is thrown but UsageError is passed on.
// Fails if the message of a refusal cannot be shown, or if the options of
// accepted words are outside the limits that config.h and --help state.
std::optional<Config> ConfigOf(const std::vector<std::string>& words);

// The same for an input.
inline std::optional<Config> ConfigOfInput(std::string_view input) {
  return ConfigOf(WordsOf(input));
}

}  // namespace kvmatrix::fuzz

#endif  // TESTS_FUZZ_WORDS_H_
