#include "common/spec/operation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <ranges>
#include <stdexcept>

#include "common/spec/number.h"

namespace kvmatrix {
namespace {

[[noreturn]] void Refuse(const std::string& problem) {
  throw std::invalid_argument(problem +
                              "; list percentages that add up to 100, such as "
                              "read:95,update:5");
}

Operation TypeOf(std::string_view name) {
  const auto it = std::ranges::find(kMixTypes, name, OperationName);
  if (it != kMixTypes.end()) return *it;
  std::string known;
  for (const Operation type : kMixTypes) {
    known += (known.empty() ? "" : ", ") + std::string(OperationName(type));
  }
  Refuse("unknown operation '" + std::string(name) + "'; the operations are " +
         known);
}

double PercentageOf(std::string_view text) {
  const double percentage = ParseNumber(text, Unit::kCount).value_or(0);
  if (percentage > 0 && percentage <= 100) return percentage;
  Refuse("'" + std::string(text) + "' is no percentage above 0 and up to 100");
}

std::string PercentageText(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g %%", share * 100);
  return text;
}

}  // namespace

std::string_view OperationName(Operation operation) {
  // In the order of Operation.
  constexpr std::string_view kNames[] = {
      "read", "update", "insert",  "scan",   "readmodifywrite", "get",
      "put",  "seek",   "missing", "delete", "scanreverse"};
  static_assert(std::size(kNames) == kOperations);
  return kNames[static_cast<size_t>(operation)];
}

Weights ParseShares(std::string_view text) {
  Weights shares{};
  for (const auto part : std::views::split(text, ',')) {
    const std::string_view item(part.begin(), part.end());
    const size_t colon = item.find(':');
    if (colon == item.npos) {
      Refuse("'" + std::string(item) + "' is not of the form NAME:PERCENT");
    }
    const std::string_view name = Trimmed(item.substr(0, colon));
    double& share = shares[static_cast<size_t>(TypeOf(name))];
    if (share > 0) Refuse("'" + std::string(name) + "' occurs twice");
    share = PercentageOf(item.substr(colon + 1)) / 100;
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (std::abs(sum - 1) > 1e-9) {
    Refuse("the percentages add up to " + PercentageText(sum));
  }
  return shares;
}

std::string SharesText(const Weights& shares) {
  std::string text;
  for (const Operation type : kMixTypes) {
    const double share = shares[static_cast<size_t>(type)];
    if (share == 0) continue;
    text += (text.empty() ? "" : ", ") + PercentageText(share) + " " +
            std::string(OperationName(type));
  }
  return text;
}

}  // namespace kvmatrix
