// --warmup: the loops before the measured ones, and rates that are a share of
// theirs.

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "common/spec/operation.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMilli = 1'000'000;

class WarmUpRuns : public RunnerFixture {
 protected:
  WarmUpRuns() {
    config_.reads = 50;
    config_.warmup_ns = 100 * kMilli;
    config_.mix.shares = ParseShares("read:50,update:30,delete:20");
  }

  // Returns an engine whose calls last a millisecond each.
  Behaviour Slow() {
    Behaviour behaviour;
    behaviour.get = [this](Session& session, std::string_view key) {
      Pass();
      return session.Get(key);
    };
    behaviour.write = [this](Session& session, std::span<const Update> batch) {
      Pass();
      session.Write(batch);
    };
    behaviour.scan = [this](Session& session, std::string_view start,
                            Order order, const Visitor& visit) {
      Pass();
      session.Scan(start, order, visit);
    };
    return behaviour;
  }

  static uint64_t WarmUpOperations(const Measurement& m) {
    const auto& by_thread = m.run.warmup_operations_by_thread;
    return std::accumulate(by_thread.begin(), by_thread.end(), uint64_t{0});
  }

  std::atomic<uint64_t> calls_ = 0;

 private:
  void Pass() {
    ++calls_;
    clock_.now_ns += kMilli;
  }
};

TEST_F(WarmUpRuns, AreNotPartOfTheMeasurement) {
  for (const char* name : {"readrandom", "readmissing", "seekrandom"}) {
    SCOPED_TRACE(name);
    calls_ = 0;
    config_.use_existing_db = false;
    const Measurement m = Over(Slow(), name);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_EQ(m.run.warmup_operations_by_thread, std::vector<uint64_t>{100});
    EXPECT_EQ(m.run.loop.operations, 50u);
    EXPECT_EQ(m.run.loop.loop_ns, 50 * kMilli);
    EXPECT_EQ(calls_, 500u + 100 + 50);  // the fill, the warm-up, the loop
  }
}

TEST_F(WarmUpRuns, DoNotPrecedeWhatWritesOnlyOrIsOneCall) {
  for (const char* name : {"fillrandom", "overwrite", "deleterandom", "readseq",
                           "readwhilewriting", "verify"}) {
    const Measurement m = Over(Slow(), name);
    EXPECT_EQ(m.status, Status::kOk) << name << ": " << m.reason;
    EXPECT_EQ(WarmUpOperations(m), 0u) << name;
  }
}

TEST_F(WarmUpRuns, OfEachThreadEndBeforeTheCommonStart) {
  config_.threads = 3;
  const Measurement m = Over(Slow(), "readrandom");
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_EQ(m.run.warmup_operations_by_thread.size(), 3u);
  EXPECT_GE(WarmUpOperations(m), 100u);
  EXPECT_EQ(m.run.loop.operations, 150u);
  EXPECT_LE(m.run.loop.loop_ns, 150 * kMilli);
}

TEST_F(WarmUpRuns, WriteWhatTheAuditThenExpects) {
  for (const uint64_t threads : {1, 3}) {
    config_.threads = threads;
    const auto m = Run(Wrapped(Slow()), {"ycsbload", "mix", "verify"});
    for (const Measurement& one : m) {
      ASSERT_EQ(one.status, Status::kOk) << one.reason;
    }
    const AppliedBenchmark load{m[0].benchmark, m[0].run.operations_by_thread};
    const AppliedBenchmark warmup{m[1].benchmark,
                                  m[1].run.warmup_operations_by_thread};
    const AppliedBenchmark loop{m[1].benchmark, m[1].run.operations_by_thread};
    const auto audit = [&](const std::vector<AppliedBenchmark>& past) {
      return RunAfter(Wrapped({}), past, "verify").status;
    };
    EXPECT_EQ(audit({load, warmup, loop}), Status::kOk);
    EXPECT_EQ(audit({load, loop}), Status::kWrong);
    EXPECT_EQ(audit({load, warmup}), Status::kWrong);
  }
}

TEST_F(WarmUpRuns, AreChecked) {
  Behaviour behaviour = Slow();
  const Behaviour::Get get = behaviour.get;
  behaviour.get = [&, get](Session& session, std::string_view key) {
    auto value = get(session, key);
    if (calls_ == 550) value.reset();  // the fiftieth get of the warm-up
    return value;
  };
  EXPECT_EQ(Over(behaviour, "readrandom").status, Status::kWrong);
}

TEST_F(WarmUpRuns, DecideARateThatIsAShare) {
  config_.reads = 2'000;
  config_.rate_share = 0.4;
  for (const uint64_t threads : {1, 4}) {
    config_.threads = threads;
    const Measurement m = Over(Slow(), "readrandom");
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    ASSERT_TRUE(m.run.trace.open_loop);
    const OpenLoopFigures& loop = *m.run.trace.open_loop;
    EXPECT_DOUBLE_EQ(loop.rate_ops_per_sec, 0.4 * loop.max_ops_per_sec);
    if (threads > 1) continue;  // they share a clock that all of them advance
    EXPECT_DOUBLE_EQ(loop.max_ops_per_sec, 1'000);
    EXPECT_NEAR(loop.offered_ops_per_sec, 400, 40);
  }
}

TEST_F(WarmUpRuns, OfAShareAreClosedLoops) {
  config_.rate_share = 0.1;
  const Measurement m = Over(Slow(), "readrandom");
  EXPECT_EQ(m.run.warmup_operations_by_thread, std::vector<uint64_t>{100});
}

TEST_F(WarmUpRuns, WithoutOneABenchmarkHasNoShare) {
  config_.rate_share = 0.4;
  const Measurement m = Over(Slow(), "overwrite");
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_FALSE(m.run.trace.open_loop);
}

}  // namespace
}  // namespace kvmatrix
