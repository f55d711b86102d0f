// A clock that stands still between readings unless a test says otherwise, and
// that skips the time for which a loop waits unless a test says otherwise.

#ifndef TESTS_TIMING_FAKE_CLOCK_H_
#define TESTS_TIMING_FAKE_CLOCK_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "common/timing/clock.h"

namespace kvmatrix {

class FakeClock final : public Clock {
 public:
  FakeClock() : Clock(false) {}

  uint64_t NowNs() override {
    ++readings;
    return now_ns += step_ns;
  }

  uint64_t TicksWithoutTsc() override {
    return static_cast<uint64_t>(static_cast<double>(NowNs()) / ns_per_tick);
  }
  double NsPerTick() override { return ns_per_tick; }
  uint64_t WaitUntilNs(uint64_t ns) override {
    if (on_wait) on_wait(ns);
    if (!skips_waits) {
      std::this_thread::yield();
      return now_ns;
    }
    uint64_t then_ns = now_ns;
    while (then_ns < ns && !now_ns.compare_exchange_weak(then_ns, ns)) continue;
    return std::max(then_ns, ns);
  }
  void SleepNs(uint64_t ns) override {
    if (sleeps) SteadyClock().SleepNs(ns);
  }

  std::atomic<uint64_t> now_ns = 0;
  double ns_per_tick = 1;
  uint64_t step_ns = 0;  // by which each reading moves the time on
  // False: only the test advances the time, and a wait returns too early at
  // once, which only the loop of the writer next to readers accepts.
  bool skips_waits = true;
  bool sleeps = false;                       // true: SleepNs() takes real time
  std::function<void(uint64_t ns)> on_wait;  // of any thread; may be empty
  std::atomic<uint64_t> readings = 0;
};

}  // namespace kvmatrix

#endif  // TESTS_TIMING_FAKE_CLOCK_H_
