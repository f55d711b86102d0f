#include "common/measurement.h"

namespace kvmatrix {

std::string_view StatusName(Status status) {
  constexpr std::string_view kNames[] = {"ok", "unsupported", "wrong", "error"};
  return kNames[static_cast<int>(status)];
}

std::string_view EndingName(Ending ending) {
  constexpr std::string_view kNames[] = {"closed", "killed", "open"};
  return kNames[static_cast<int>(ending)];
}

}  // namespace kvmatrix
