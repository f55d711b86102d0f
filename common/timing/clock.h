// The only place where the harness reads a clock.
//
// A process has one SteadyClock, made by cli/main.cc.

#ifndef COMMON_TIMING_CLOCK_H_
#define COMMON_TIMING_CLOCK_H_

#include <cstdint>

#include "common/timing/tsc.h"

namespace kvmatrix {

// Monotonic time, in two forms: NowNs(), comparable across threads, and
// Ticks(), cheaper and meant for differences within one thread.  Thread-safe.
// Tests substitute clocks of their own.
class Clock {
 public:
  virtual ~Clock() = default;

  // Returns nanoseconds since a fixed but unspecified moment.  Never decreases,
  // on any thread.
  virtual uint64_t NowNs() = 0;

  // Returns the cheapest reading, in a unit of its own.  Successive readings
  // may decrease by a few ticks if the thread has moved to another processor.
  // If `ordered`, the reading is taken only once all earlier instructions
  // have completed (see FenceTsc()); otherwise instructions still in flight, at
  // most about 100 ns of work, may be missing from it.  Not virtual, so that it
  // is inlined into loops; without a counter it is NowNs(), or what a test's
  // clock returns.
  uint64_t Ticks(bool ordered) {
    if (!has_tsc_) return TicksWithoutTsc();
    if (ordered) FenceTsc();
    return ReadTsc();
  }

  // Returns the length of a tick in nanoseconds.  The estimate becomes
  // more precise with the age of the clock: call it after the loop.
  virtual double NsPerTick() { return 1; }

  // Waits, and returns the first reading of NowNs() that is not before `ns`.
  // Returns at once if `ns` has passed.
  virtual uint64_t WaitUntilNs(uint64_t ns) = 0;

  // Sleeps for at least `ns`, during which the thread uses no processor.
  virtual void SleepNs(uint64_t ns) = 0;

 protected:
  // `has_tsc`: Ticks() reads the processor's time stamp counter.
  explicit Clock(bool has_tsc) : has_tsc_(has_tsc) {}

  // Ticks() if `has_tsc` is false.
  virtual uint64_t TicksWithoutTsc() { return NowNs(); }

  const bool has_tsc_;
};

// CLOCK_MONOTONIC.  If the kernel uses the time stamp counter as its clock
// source, Ticks() reads the counter.  Immutable after the construction, hence
// thread-safe.
class SteadyClock final : public Clock {
 public:
  SteadyClock();

  uint64_t NowNs() override;

  // Calibrates the counter against CLOCK_MONOTONIC over the time since
  // construction.
  double NsPerTick() override;

  // Sleeps until 50 us before `ns` and spins for the rest, because a sleeping
  // thread wakes up tens of microseconds late.
  uint64_t WaitUntilNs(uint64_t ns) override;

  void SleepNs(uint64_t ns) override;

 private:
  // Both clocks at the same moment.
  struct Pair {
    uint64_t ns;
    uint64_t ticks;
  };
  Pair ReadBoth();

  const Pair origin_;  // at the construction
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_CLOCK_H_
