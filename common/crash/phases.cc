#include "common/crash/phases.h"

#include <sstream>
#include <string_view>

#include "common/spec/config.h"
#include "common/spec/number.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMostCommits = 1'000'000;
constexpr std::string_view kNames[] = {"first",  "single", "batch",   "cover",
                                       "growth", "settle", "compact", "close",
                                       "fill",   "read"};

Phase ParsePhase(const std::string& word) {
  const size_t colon = word.find(':');
  const std::string_view name = std::string_view(word).substr(0, colon);
  const std::string_view digits =
      colon == std::string::npos ? ""
                                 : std::string_view(word).substr(colon + 1);
  const uint64_t count = ParseCount(digits).value_or(0);
  if (count == 0 || count > kMostCommits) {
    throw UsageError("phases", "'" + word +
                                   "'; expected a phase and a number " +
                                   "from 1 to 1000000, such as single:40");
  }
  std::string known;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return {static_cast<PhaseKind>(i), count};
    known += (i == 0 ? "" : ", ") + std::string(kNames[i]);
  }
  throw UsageError("phases", "unknown phase '" + std::string(name) +
                                 "'; expected one of " + known);
}

}  // namespace

std::vector<Phase> ParsePhases(const std::string& list) {
  std::vector<Phase> phases;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');)
    phases.push_back(ParsePhase(word));
  if (phases.empty()) throw UsageError("phases", "is empty");
  return phases;
}

}  // namespace kvmatrix
