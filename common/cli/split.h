// Splits a list on the command line into its words.

#ifndef COMMON_CLI_SPLIT_H_
#define COMMON_CLI_SPLIT_H_

#include <string_view>
#include <vector>

namespace kvmatrix {

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

}  // namespace kvmatrix

#endif  // COMMON_CLI_SPLIT_H_
