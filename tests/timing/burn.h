// Uses a given time of a processor, however long a busy machine takes over it.

#ifndef TESTS_TIMING_BURN_H_
#define TESTS_TIMING_BURN_H_

#include <time.h>

#include <chrono>

namespace kvmatrix {

// Works until this thread has used `cpu` of processor time more than before,
// nearly all of it in user mode.
inline void Burn(std::chrono::nanoseconds cpu) {
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) +
           std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto end = used() + cpu;
  volatile int spun = 0;
  while (used() < end) {
    // The clock is a system call.
    for (int i = 0; i < 10'000; ++i) spun = spun + 1;
  }
}

}  // namespace kvmatrix

#endif  // TESTS_TIMING_BURN_H_
