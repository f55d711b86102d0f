// What a process loses, when another one competes with it for a processor.

#include "common/timing/losses.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/timing/burn.h"

namespace kvmatrix {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Leaves this thread, and the processes that it starts, one processor.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
};

// Another process that uses a processor as long as this exists.
class Competitor {
 public:
  Competitor() : pid_(fork()) {
    if (pid_ != 0) return;
    while (true) continue;
  }
  ~Competitor() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  const pid_t pid_;
};

// Sleeps really, and counts how often.
class SleepingClock final : public Clock {
 public:
  SleepingClock() : Clock(false) {}

  uint64_t NowNs() override { return 0; }
  uint64_t WaitUntilNs(uint64_t ns) override { return ns; }
  void SleepNs(uint64_t ns) override {
    ++sleeps;
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  }

  int sleeps = 0;
};

TEST(Losses, AreThoseOfTheProcessorsThatMayBeUsed) {
  const Losses all = Losses::Now();
  ASSERT_TRUE(all.processors_user_ns && all.stolen_ns);
  const OneProcessor one;
  const Losses mine = Losses::Now();
  EXPECT_EQ(mine.processors, 1u);
  EXPECT_GE(all.processors, mine.processors);
  EXPECT_GT(*mine.processors_user_ns, 0u);
}

TEST(Losses, ACompetitorMakesTheProcessWait) {
  const OneProcessor one;
  const Usage start = Usage::Start();
  Usage lost;
  {
    const Competitor competitor;
    Burn(milliseconds(200));
    lost = Usage::Since(start);
  }
  ASSERT_TRUE(lost.lost.run_queue_ns && lost.lost.time_slices);
  EXPECT_GT(*lost.lost.run_queue_ns, 50'000'000u);
  EXPECT_GT(*lost.lost.time_slices, 0u);
  EXPECT_GT(*lost.lost.processors_user_ns, lost.used.cpu_user_ns + 50'000'000);
}

// With nothing else on the processor, all of its time in user mode is that of
// this process, whose threads nevertheless wait for each other.
TEST(Losses, ThreadsThatWaitForEachOtherUseAllOfTheTime) {
  const OneProcessor one;
  const Usage start = Usage::Start();
  std::jthread other([] { Burn(milliseconds(150)); });
  Burn(milliseconds(150));
  const Usage lost = Usage::Since(start);
  ASSERT_TRUE(lost.lost.run_queue_ns);
  EXPECT_GT(*lost.lost.run_queue_ns, 50'000'000u);
  EXPECT_GT(lost.used.cpu_user_ns, 50'000'000u);
}

// In one sleep a thread that works may get no processor.
TEST(IdleUse, IsSoughtAgainWhileAThreadIsRunnable) {
  const OneProcessor one;
  std::atomic<bool> working = true;
  const auto work = [&] {
    while (working) continue;
  };
  std::jthread first(work), second(work);
  SleepingClock clock;
  const IdleUse idle = UsedWhileIdle(clock, kIdleNs);
  working = false;
  first.join();
  second.join();
  EXPECT_EQ(clock.sleeps, 1 + 5);
  EXPECT_GE(idle.used.cpu_ns(), idle.most_cpu_ns);

  SleepingClock rest;
  UsedWhileIdle(rest, kIdleNs);
  EXPECT_EQ(rest.sleeps, 1 + 1);
  UsedWhileIdle(rest, kLongIdleNs);
  EXPECT_EQ(rest.sleeps, 1 + 1 + 1 + 1);
}

TEST(Losses, TheEndOfAThreadMakesNoneNegative) {
  Losses earlier, later;
  earlier.run_queue_ns = 900;
  later.run_queue_ns = 100;
  earlier.stolen_ns = 1;
  const Losses since = later.Since(earlier);
  EXPECT_EQ(since.run_queue_ns, 0u);
  EXPECT_FALSE(since.stolen_ns);
}

TEST(Losses, OneThatIsUnknownInAPartIsUnknown) {
  Losses sum, more;
  sum.run_queue_ns = 900;
  sum.stolen_ns = 4;
  more.run_queue_ns = 100;
  sum += more;
  EXPECT_EQ(sum.run_queue_ns, 1'000u);
  EXPECT_FALSE(sum.stolen_ns);
}

TEST(Losses, ReadingThemIsNotCountedAsUse) {
  const Usage start = Usage::Start();
  const Usage usage = Usage::Since(start);
  EXPECT_LT(usage.used.read_bytes, 100u);
}

TEST(Losses, ReadingThemTakesMicroseconds) {
  auto least = steady_clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    const auto start = steady_clock::now();
    Losses::Now();
    least = std::min(least, steady_clock::now() - start);
  }
  EXPECT_LT(least, milliseconds(5));
  RecordProperty(
      "least_us",
      static_cast<int>(
          std::chrono::duration_cast<std::chrono::microseconds>(least)
              .count()));
}

}  // namespace
}  // namespace kvmatrix
