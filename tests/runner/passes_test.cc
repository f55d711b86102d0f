// A benchmark that is repeated until it has worked for --min_time.

#include "common/run/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMicro = 1'000;
constexpr uint64_t kPassNs = 500 * kMicro;  // of 500 calls

class PassesTest : public RunnerFixture {
 protected:
  // Engines whose calls take a microsecond each.
  Behaviour Timed() {
    Behaviour behaviour;
    behaviour.write = [this](Session& session, std::span<const Update> batch) {
      clock_.now_ns += kMicro;
      session.Write(batch);
    };
    behaviour.get = [this](Session& session, std::string_view key) {
      clock_.now_ns += kMicro;
      keys_.emplace_back(key);
      return session.Get(key);
    };
    behaviour.open = [this] { ++openings_; };
    return behaviour;
  }

  // Runs `name` for 2.2 passes, over a filled database if it needs one.
  Measurement Repeat(const Behaviour& behaviour, std::string_view name) {
    const Benchmark& benchmark = *FindBenchmark(name);
    const Driver driver = Wrapped(behaviour);
    Runner runner(driver, config_, clock_);
    if (!IsFresh(benchmark)) runner.Run(*FindBenchmark(benchmark.fill));
    openings_ = 0;
    config_.min_time_ns = 2 * kPassNs + kPassNs / 5;
    return RunPasses(runner, benchmark, config_, nullptr, {});
  }

  uint64_t openings_ = 0;
  std::vector<std::string> keys_;  // of all gets
};

TEST_F(PassesTest, EndWithTheOneThatReachesTheTime) {
  const Measurement m = Repeat(Timed(), "fillseq");
  EXPECT_EQ(m.status, Status::kOk) << m.reason;
  ASSERT_EQ(m.passes.size(), 3u);
  EXPECT_EQ(m.run.loop.operations, 1'500u);
  EXPECT_EQ(m.planned_operations, 1'500u);
  EXPECT_EQ(m.run.operations_by_thread, std::vector<uint64_t>{1'500});
  EXPECT_EQ(m.run.loop.loop_ns, 3 * kPassNs);
  for (const Pass& pass : m.passes) EXPECT_EQ(pass.loop_ns, kPassNs);
  EXPECT_EQ(m.run.trace.timeline.points().back().elapsed_ns, 3 * kPassNs);
  EXPECT_EQ(m.run.trace.timeline.points().back().operations, 1'500u);
}

TEST_F(PassesTest, AreAsManyAsRequestedHoweverLongTheyTake) {
  for (const uint64_t passes : {1, 2, 5}) {
    config_.passes = passes;
    EXPECT_EQ(Repeat(Timed(), "fillseq").passes.size(), passes);
    EXPECT_EQ(Repeat(Timed(), "readrandom").passes.size(), passes);
  }
}

TEST_F(PassesTest, OfAWriteEachHaveANewDatabaseWithTheSameEntries) {
  const Measurement once = Run(Wrapped(Timed()), {"fillrandom"}).front();
  const Measurement m = Repeat(Timed(), "fillrandom");
  EXPECT_EQ(m.digest, once.digest);
  EXPECT_EQ(m.live_bytes, once.live_bytes);
  EXPECT_EQ(m.run.loop.bytes, 3 * once.run.loop.bytes);
  EXPECT_EQ(openings_, 5u);  // two of them to audit all but the last
}

TEST_F(PassesTest, OfAReadEachOpenTheDatabaseAndGetTheSameKeys) {
  const Measurement m = Repeat(Timed(), "readrandom");
  EXPECT_EQ(openings_, 3u);
  EXPECT_EQ(m.run.loop.found, 1'500u);
  ASSERT_EQ(keys_.size(), 1'500u);
  EXPECT_TRUE(
      std::equal(keys_.begin(), keys_.begin() + 1'000, keys_.begin() + 500));
}

TEST_F(PassesTest, AreOneIfThatIsLongEnough) {
  config_.num = config_.reads = 1'200;
  const Measurement m = Repeat(Timed(), "fillseq");
  EXPECT_EQ(m.passes.size(), 1u);
  EXPECT_EQ(m.run.loop.operations, 1'200u);
}

TEST_F(PassesTest, AreLimitedInNumber) {
  config_.num = 1;
  const Measurement m = Repeat({}, "fillseq");  // in no time
  EXPECT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_EQ(m.passes.size(), kMostPasses);
}

TEST_F(PassesTest, HaveTheLatenciesOfAllCalls) {
  config_.histogram = true;
  const Measurement m = Repeat(Timed(), "readrandom");
  EXPECT_EQ(m.run.trace.latency->count(), 1'500u);
  EXPECT_EQ(m.run.trace.latency->sum_ns(), 3 * kPassNs);
}

TEST_F(PassesTest, ThatFailAreNamed) {
  Behaviour behaviour = Timed();
  uint64_t writes = 0;
  const auto write = behaviour.write;
  behaviour.write = [=, &writes](Session& session,
                                 std::span<const Update> batch) {
    if (++writes == 700) throw std::runtime_error("disk full");
    write(session, batch);
  };
  const Measurement m = Repeat(behaviour, "fillseq");
  EXPECT_EQ(m.status, Status::kError);
  EXPECT_EQ(m.reason, "pass 2: disk full");
}

TEST_F(PassesTest, ThatLoseAnEntryAreWrongAlthoughALaterOneDoesNot) {
  for (const uint64_t lost : {3, 503}) {
    Behaviour behaviour = Timed();
    uint64_t writes = 0;
    const auto write = behaviour.write;
    behaviour.write = [=, &writes](Session& session,
                                   std::span<const Update> batch) {
      if (++writes != lost) write(session, batch);
    };
    const Measurement m = Repeat(behaviour, "fillseq");
    EXPECT_EQ(m.status, Status::kWrong);
    EXPECT_NE(m.reason.find("audit"), std::string::npos) << m.reason;
    EXPECT_EQ(m.reason.starts_with("pass 2: "), lost > 500) << m.reason;
  }
}

// A process that is to be killed ends in the flush of its last pass, and the
// result has all of them.
TEST_F(PassesTest, EndInTheFlushOfAKilledProcess) {
  const auto tell = [](const Measurement& m) {
    std::fprintf(stderr, "%zu passes, %llu operations, killed: %d",
                 m.passes.size(),
                 static_cast<unsigned long long>(m.run.loop.operations),
                 m.ending == Ending::kKilled);
  };
  EXPECT_EXIT(
      {
        const Driver driver = Wrapped(Timed());
        Runner runner(driver, config_, clock_);
        config_.min_time_ns = 2 * kPassNs + kPassNs / 5;
        RunPasses(runner, *FindBenchmark("fillseq"), config_, nullptr, tell);
      },
      testing::KilledBySignal(SIGKILL), "3 passes, 1500 operations, killed: 1");
}

TEST(BenchmarksToRepeat, LeaveTheDatabaseAsItWas) {
  std::set<std::string_view> refused;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    if (!CanRepeat(benchmark)) refused.insert(benchmark.name);
  }
  for (const char* name : {"overwrite", "deleteseq", "mix", "compact", "verify",
                           "readwhilewriting", "ycsba"}) {
    EXPECT_TRUE(refused.contains(name)) << name;
  }
  for (const char* name :
       {"fillseq", "fillrandsync", "readseq", "seekrandom"}) {
    EXPECT_FALSE(refused.contains(name)) << name;
  }
}

}  // namespace
}  // namespace kvmatrix
