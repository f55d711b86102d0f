// What the rest of the machine took from this process.
//
// A loss makes a repetition slower than the engine is.  The values come from
// the kernel's counters, none of which is read while a loop runs.

#ifndef COMMON_TIMING_LOSSES_H_
#define COMMON_TIMING_LOSSES_H_

#include <cstdint>
#include <optional>

#include "common/timing/clock.h"
#include "common/timing/resources.h"

namespace kvmatrix {

// Counters since some moment.  One that the kernel does not keep is empty.
//
// "These processors" are those on which the calling thread may run.
struct Losses {
  // Time in which threads of this process were ready to run and did not:
  // /proc/self/task/*/schedstat, summed over the threads that exist at the
  // moment.  Threads that wait for another one of this process, and a thread
  // that is woken on an idle processor, wait too.
  std::optional<uint64_t> run_queue_ns;
  // How often they were given a processor, from the same files.
  std::optional<uint64_t> time_slices;
  // The time that the hypervisor gave to others while these processors had work
  // to do: /proc/stat.  In ticks of 10 ms.
  std::optional<uint64_t> stolen_ns;
  // The time in which the control group of this process was stopped at its
  // limit: cpu.stat.  Summed over processors.
  std::optional<uint64_t> throttled_ns;
  // The time that these processors spent in user mode for anyone, this process
  // included: /proc/stat.  In ticks of 10 ms.  Kernel threads have none.
  std::optional<uint64_t> processors_user_ns;
  uint64_t processors = 0;  // the number of these processors

  // Returns the counters.  Costs about 20 us, and 3 us for each thread.
  static Losses Now();

  // Returns the counters since `earlier`.
  Losses Since(const Losses& earlier) const;

  // REQUIRES: both cover a period
  Losses& operator+=(const Losses& more);
};

// What this process used and lost in a period.
//
//   const Usage start = Usage::Start();
//   ... the period ...
//   const Usage usage = Usage::Since(start);
//
// What the two calls use themselves is not counted.
struct Usage {
  Resources used;
  Losses lost;

  static Usage Start();
  static Usage Since(const Usage& start);

  Usage& operator+=(const Usage& more);
};

// What this process used while a thread slept: the work of an engine's
// background threads.
struct IdleUse {
  Resources used;            // in all sleeps
  uint64_t most_cpu_ns = 0;  // in one of them
};

inline constexpr uint64_t kIdleNs = 10'000'000;
inline constexpr uint64_t kLongIdleNs = 500'000'000;

// Sleeps for `sleep_ns`.  A millisecond of grace comes first, so that a thread
// that has just finished its work can go to sleep; its CPU time would otherwise
// be accounted here.  On a busy machine a thread that works may get no
// processor for 10 ms: if any is still runnable, it sleeps again, until it has
// slept 50 ms.
IdleUse UsedWhileIdle(Clock& clock, uint64_t sleep_ns);

}  // namespace kvmatrix

#endif  // COMMON_TIMING_LOSSES_H_
