#include "common/clock.h"

#include <ctime>

namespace kvmatrix {

uint64_t SteadyClock::NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace kvmatrix
