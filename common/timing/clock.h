// The only place where the harness reads a clock.

#ifndef COMMON_TIMING_CLOCK_H_
#define COMMON_TIMING_CLOCK_H_

#include <cstdint>

#include "common/timing/tsc.h"

namespace kvmatrix {

// Monotonic time.  Thread-safe.  Tests put their own in place.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds since some fixed moment.
  virtual uint64_t NowNs() = 0;

  // The cheapest reading, in a unit of its own.  It may step back by a few
  // ticks when the thread moves to another processor.  `after_all`: taken only
  // once everything before it has completed; otherwise as much as the processor
  // has in flight, some 100 ns at most, may still be unfinished.
  uint64_t Ticks(bool after_all) {
    if (!has_tsc_) return TicksWithoutTsc();
    if (after_all) FenceTsc();
    return ReadTsc();
  }

  // The length of one of Ticks()' units.
  virtual double NsPerTick() { return 1; }

  // Returns the first reading of NowNs() at or past `ns`.
  virtual uint64_t WaitUntilNs(uint64_t ns) = 0;

 protected:
  // `has_tsc`: the processor has a time stamp counter that is fit for use.
  explicit Clock(bool has_tsc) : has_tsc_(has_tsc) {}

  virtual uint64_t TicksWithoutTsc() { return NowNs(); }

  const bool has_tsc_;
};

// CLOCK_MONOTONIC.  Where the kernel itself keeps that time by the processor's
// time stamp counter, Ticks() reads the counter.
class SteadyClock final : public Clock {
 public:
  SteadyClock();

  uint64_t NowNs() override;

  // Of the time since the clock was made: the kernel's clock against the
  // counter.
  double NsPerTick() override;

  // Sleeps until shortly before `ns`, then spins: a sleeper wakes up tens of
  // microseconds late.
  uint64_t WaitUntilNs(uint64_t ns) override;

 private:
  // Both clocks at one moment.
  struct Pair {
    uint64_t ns;
    uint64_t ticks;
  };
  Pair ReadBoth();

  const Pair origin_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_CLOCK_H_
