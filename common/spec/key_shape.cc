#include "common/spec/key_shape.h"

namespace kvmatrix {

std::string_view KeyFormatName(KeyFormat format) {
  // In the order of KeyFormat.
  constexpr std::string_view kNames[] = {"decimal", "big", "little"};
  return kNames[static_cast<int>(format)];
}

}  // namespace kvmatrix
