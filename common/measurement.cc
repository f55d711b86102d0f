#include "common/measurement.h"

namespace kvmatrix {

std::string_view StatusName(Status status) {
  constexpr std::string_view kNames[] = {"ok", "unsupported", "wrong", "error"};
  return kNames[static_cast<int>(status)];
}

}  // namespace kvmatrix
