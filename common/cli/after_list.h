// Parses lists on the command line: words between separators, and --after, the
// list of benchmarks that an existing database has been through.

#ifndef COMMON_CLI_AFTER_LIST_H_
#define COMMON_CLI_AFTER_LIST_H_

#include <string_view>
#include <vector>

#include "common/spec/config.h"

namespace kvmatrix {

// The most words in --benchmarks and in --after.
inline constexpr size_t kMaxListed = 1000;

// Returns the words of `list` between the separators, as views into it.  An
// empty list has no words, a separator at the end adds none, and two adjacent
// ones have an empty word between them.  Words are not trimmed:
//
//   Split("a,b") is a, b      Split("a,,b") is a, (empty), b
//   Split("") is nothing      Split("a,") is a
inline std::vector<std::string_view> Split(std::string_view list,
                                           char separator = ',') {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const size_t comma = list.find(separator);
    words.push_back(list.substr(0, comma));
    list = comma == list.npos ? "" : list.substr(comma + 1);
  }
  return words;
}

// The same for the value of `flag`.  Throws UsageError if the list has more
// than kMaxListed words.
std::vector<std::string_view> SplitList(std::string_view flag,
                                        std::string_view list);

// Returns the benchmark called `name`.  Throws UsageError, which names `flag`
// and lists all benchmarks, if there is none.
const Benchmark* RequireBenchmark(std::string_view flag, std::string_view name);

// Parses a list of words as ParseAfterWord() accepts them, in the order in
// which the benchmarks were run.  Throws UsageError if the first of them does
// not fill a database.
std::vector<AppliedBenchmark> ParseAfterList(std::string_view list,
                                             const Config& config);

// Parses "overwrite", "overwrite:5000" (stopped after 5,000 operations) or
// "overwrite:2500+2500" (by each of two threads).  Without a number, one thread
// has completed the benchmark.  Throws UsageError.
AppliedBenchmark ParseAfterWord(std::string_view word, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_AFTER_LIST_H_
