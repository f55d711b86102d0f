// The words of durability in flags and results; driver.h says what they mean.

#ifndef COMMON_SPEC_DURABILITY_H_
#define COMMON_SPEC_DURABILITY_H_

#include <array>
#include <string_view>

#include "common/driver.h"

namespace kvmatrix {

// By Durability; the values of --durability.
inline constexpr std::array<std::string_view, kDurabilities> kDurabilityNames =
    {"buffered", "consistent", "durable"};

inline std::string_view DurabilityName(Durability durability) {
  return kDurabilityNames.at(static_cast<size_t>(durability));
}

// Returns what the contents may be after a crash of the machine.
inline std::string_view PromiseText(Promise promise) {
  constexpr std::string_view kTexts[] = {
      "loses nothing acknowledged", "may lose the newest", "may be corrupt"};
  return kTexts[static_cast<int>(promise)];
}

}  // namespace kvmatrix

#endif  // COMMON_SPEC_DURABILITY_H_
