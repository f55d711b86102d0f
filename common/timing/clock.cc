#include "common/timing/clock.h"

#include <sys/prctl.h>

#include <chrono>
#include <ctime>
#include <limits>
#include <thread>

namespace kvmatrix {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kSpinNs = 50'000;
constexpr int kReadings = 5;

}  // namespace

SteadyClock::SteadyClock() : Clock(TscIsReliable()), origin_(ReadBoth()) {}

uint64_t SteadyClock::NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond +
         static_cast<uint64_t>(now.tv_nsec);
}

// Takes the fastest of five readings, which no interruption has prolonged, and
// puts the moment of NowNs() in the middle between the two counter readings.
SteadyClock::Pair SteadyClock::ReadBoth() {
  Pair best{};
  uint64_t best_ticks = std::numeric_limits<uint64_t>::max();
  for (int i = 0; i < kReadings; ++i) {
    const uint64_t before = Ticks(true);
    const uint64_t ns = NowNs();
    const uint64_t took = Ticks(true) - before;
    if (took >= best_ticks) continue;
    best_ticks = took;
    best = {ns, before + took / 2};
  }
  return best;
}

double SteadyClock::NsPerTick() {
  if (!has_tsc_) return 1;
  const Pair now = ReadBoth();
  return static_cast<double>(now.ns - origin_.ns) /
         static_cast<double>(now.ticks - origin_.ticks);
}

uint64_t SteadyClock::WaitUntilNs(uint64_t ns) {
  uint64_t now_ns = NowNs();
  if (ns > now_ns + kSpinNs) {
    // By default the kernel may delay a wake-up by 50 us to save power.  The
    // static initialisation runs once per thread.
    thread_local const int precise = prctl(PR_SET_TIMERSLACK, 1ul);
    static_cast<void>(precise);
    const uint64_t wake_ns = ns - kSpinNs;
    const timespec wake = {static_cast<time_t>(wake_ns / kNsPerSecond),
                           static_cast<long>(wake_ns % kNsPerSecond)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
    now_ns = NowNs();
  }
  while (now_ns < ns) now_ns = NowNs();
  return now_ns;
}

void SteadyClock::SleepNs(uint64_t ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}

}  // namespace kvmatrix
