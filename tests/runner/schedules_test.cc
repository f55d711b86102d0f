// When threads make their calls: the schedule of a writer next to readers, and
// the schedules of an open loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class ThreadSchedules : public RunnerFixture {
 protected:
  ThreadSchedules() { config_.threads = 4; }
};

TEST_F(ThreadSchedules, AWriterKeepsToItsScheduleAndTheReadsAreCounted) {
  constexpr uint64_t kGapNs = 1'000'000;
  config_.threads = 1;
  config_.reads = 20;
  config_.writes_per_second = 1000;
  std::atomic<uint64_t> writes = 0;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    session.Write(batch);
    ++writes;
  };
  behaviour.get = [&](Session& session, std::string_view key) {
    const uint64_t due = 1 + (clock_.now_ns += 25 * kGapNs) / kGapNs;
    while (writes < config_.num + due) std::this_thread::yield();
    return session.Get(key);
  };
  const Measurement m = Over(behaviour, "readwhilewriting");
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_EQ(m.run.loop.operations, 20u);
  EXPECT_EQ(m.run.loop.found, 20u);
  EXPECT_EQ(m.flush_ns, 0u);
  ASSERT_TRUE(m.run.writer);
  EXPECT_GT(m.run.writer->loop.operations, 500u);
  EXPECT_LE(m.run.writer->loop.operations,
            1 + m.run.writer->loop.loop_ns / kGapNs);
  EXPECT_EQ(m.run.operations_by_thread,
            std::vector<uint64_t>{m.run.writer->loop.operations});
  EXPECT_EQ(m.digest, std::nullopt);
}

// Each write begins when it is due or when the previous one has ended,
// whichever is later: after a long write the writer catches up with all that
// became due meanwhile.
TEST_F(ThreadSchedules, AWritersScheduleIsAbsolute) {
  constexpr uint64_t kWrites = 60, kLong = 20;
  config_.threads = 1;
  for (const uint64_t per_second : {40, 1'000, 300'000}) {
    config_.writes_per_second = per_second;
    const uint64_t long_ns = 10'500'000'000 / per_second;
    std::atomic<uint64_t> writes = 0;
    std::vector<uint64_t> began_ns, ended_ns;
    Behaviour behaviour;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      session.Write(batch);
      if (++writes <= config_.num) return;
      began_ns.push_back(clock_.now_ns);
      if (began_ns.size() == kLong) clock_.now_ns += long_ns;
      ended_ns.push_back(clock_.now_ns);
    };
    behaviour.get = [&](Session& session, std::string_view key) {
      while (writes < config_.num + kWrites) std::this_thread::yield();
      return session.Get(key);
    };
    const Measurement m = Over(behaviour, "readwhilewriting");
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    ASSERT_GE(began_ns.size(), kWrites);
    EXPECT_EQ(m.run.writer->loop.operations, began_ns.size());
    EXPECT_EQ(m.run.writer->rate_ops_per_sec, per_second);
    for (size_t i = 1; i < kWrites; ++i) {
      const uint64_t due_ns = began_ns[0] + i * 1'000'000'000 / per_second;
      ASSERT_EQ(began_ns[i], std::max(due_ns, ended_ns[i - 1])) << i;
    }
  }
}

TEST_F(ThreadSchedules, ShareTheRateOfAnOpenLoop) {
  config_.reads = 2'000;
  for (const uint64_t threads : {1, 4}) {
    config_.threads = threads;
    for (const char* name : {"readrandom", "overwrite", "readwhilewriting"}) {
      config_.rate_ops_per_sec = 1'000;
      config_.num = 2'000 * threads;
      const Measurement m = Over({}, name);
      ASSERT_EQ(m.status, Status::kOk) << m.reason;
      EXPECT_EQ(m.run.loop.operations, 2'000 * threads) << name;
      ASSERT_TRUE(m.run.trace.open_loop) << name;
      EXPECT_EQ(m.run.trace.open_loop->rate_ops_per_sec, 1'000) << name;
      EXPECT_NEAR(m.run.trace.open_loop->offered_ops_per_sec, 1'000, 100)
          << name;
      EXPECT_NEAR(static_cast<double>(m.run.loop.loop_ns), 2e9 * threads,
                  3e8 * threads)
          << name;
    }
  }
}

// Each has few calls: schedules of their own would differ by a fifth, and the
// last thread would go on alone.
TEST_F(ThreadSchedules, OfFewCallsAchieveTheRate) {
  config_.reads = 25;
  config_.threads = 8;
  config_.num = 200;
  config_.rate_ops_per_sec = 4'000;
  for (const uint64_t seed : {301, 302, 303, 304}) {
    config_.seed = seed;
    const Measurement m = Over({}, "readrandom");
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    const OpenLoopFigures& figures = m.run.trace.open_loop.value();
    EXPECT_EQ(figures.rate_ops_per_sec, 4'000);
    // Four standard deviations of 200 events.
    EXPECT_NEAR(figures.offered_ops_per_sec, 4'000, 4'000 * 4 / 14.1);
  }
}

// If all threads had the same gaps, their n-th calls would all start at once.
TEST_F(ThreadSchedules, EachHaveASchedule) {
  config_.reads = 100;
  config_.rate_ops_per_sec = 1'000;
  std::mutex mutex;
  std::set<uint64_t> instants;
  clock_.on_wait = [&](uint64_t until_ns) {
    const std::lock_guard lock(mutex);
    instants.insert(until_ns);
  };
  ASSERT_EQ(Over({}, "readrandom").status, Status::kOk);
  EXPECT_GE(instants.size(), 400u);
}

// Calls are due until long after the limit of 1 s; the loop does not wait for
// them.
TEST_F(ThreadSchedules, EndAtTheTimeLimitEvenIfNothingIsDue) {
  config_.num = 1'000;
  config_.reads = 1'000;
  config_.duration_ns = kSecond;
  config_.rate_ops_per_sec = 16;
  for (const uint64_t threads : {1, 16}) {
    config_.threads = threads;
    for (const Measurement& m :
         Run(Wrapped({}), {"fillrandom", "overwrite", "readrandom", "ycsbload",
                           "readrandomwriterandom"})) {
      SCOPED_TRACE(std::string(m.benchmark->name));
      EXPECT_EQ(m.status, Status::kOk) << m.reason;
      EXPECT_EQ(m.run.loop.loop_ns, kSecond);
      EXPECT_NEAR(static_cast<double>(m.run.loop.operations), 16, 4 * 4);
      EXPECT_TRUE(m.run.trace.truncated);
      // Threads share the fake clock: while the machine lets one of them wait,
      // the others move it.
      if (threads == 1) {
        EXPECT_EQ(m.run.trace.stalls.count(), 0u);
      }
    }
  }
}

}  // namespace
}  // namespace kvmatrix
