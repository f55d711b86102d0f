#include "common/spec/size_law.h"

#include <utility>

namespace kvmatrix {
namespace {

// In the order of SizeLaw, which is the index in SizeLawName().
constexpr std::pair<std::string_view, SizeLaw> kLaws[] = {
    {"fixed", SizeLaw::kFixed},
    {"uniform", SizeLaw::kUniform},
    {"normal", SizeLaw::kNormal},
    {"pareto", SizeLaw::kPareto}};

}  // namespace

std::string_view SizeLawName(SizeLaw law) {
  return kLaws[static_cast<int>(law)].first;
}

std::optional<SizeLaw> FindSizeLaw(std::string_view name) {
  for (const auto& [its_name, law] : kLaws) {
    if (its_name == name) return law;
  }
  return std::nullopt;
}

}  // namespace kvmatrix
