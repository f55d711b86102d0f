#include "common/timing/tsc.h"

#include <fstream>
#include <string>

namespace kvmatrix {

bool TscIsReliable() {
#ifdef __x86_64__
  std::ifstream file(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
#else
  return false;
#endif
}

}  // namespace kvmatrix
