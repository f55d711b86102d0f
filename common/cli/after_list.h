// Parses lists on the command line: words between separators, and --after, the
// list of benchmarks that an existing database has been through.

#ifndef COMMON_CLI_AFTER_LIST_H_
#define COMMON_CLI_AFTER_LIST_H_

#include <string>
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

// A word of a list of benchmarks, without blanks around it.
struct ListedWord {
  std::string_view word;
  bool is_warm_up = false;  // its result does not count
  size_t repeats = 1;       // results up to this one, the last of the word
};

// Returns the words of the value of `flag`, each as often as it says:
// "readrandom[X3-W1]" is readrandom four times, of which the first is a
// warm-up.  Empty words are ignored.  Throws UsageError if the list has more
// than kMaxListed words, or if it says how often in another way.
std::vector<ListedWord> SplitList(std::string_view flag, std::string_view list);

// Returns a line for each word that does not begin with the name of a
// benchmark: what it is elsewhere, or the nearest name.
std::vector<std::string> UnknownIn(std::string_view flag,
                                   std::string_view list);

// Throws UsageError with all of these lines, if there are any.
void RequireKnown(std::string_view flag, std::string_view list);

// Parses a list of words as ParseAfterWord() accepts them, in the order in
// which the benchmarks were run.  Throws UsageError if the first of them does
// not fill a database.
std::vector<AppliedBenchmark> ParseAfterList(std::string_view list,
                                             const Config& config);

// Parses "overwrite", "overwrite:5000" (stopped after 5,000 operations) or
// "overwrite:2500+2500" (by each of two threads).  Without a number, one thread
// has completed the benchmark.  Throws UsageError.  REQUIRES: the benchmark is
// known
AppliedBenchmark ParseAfterWord(std::string_view word, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_AFTER_LIST_H_
