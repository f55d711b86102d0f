// The stalls that the real loops record of an engine that stalls on purpose:
// exactly those, and no work that the harness does between calls.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/cli/json_output.h"
#include "common/cli/text_output.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMicro = 1'000;
constexpr uint64_t kMilli = 1'000'000;

class LatencyTest : public RunnerFixture {
 protected:
  LatencyTest() {
    config_.num = 40'000;
    config_.reads = 40'000;
    config_.histogram = true;
  }

  // An engine whose i-th call lasts cost_ns(i), counting from 1.
  template <typename Cost>
  Behaviour Taking(Cost cost_ns) {
    Behaviour behaviour;
    const auto take = [this, cost_ns] { clock_.now_ns += cost_ns(++calls_); };
    behaviour.write = [take](Session& session, std::span<const Update> batch) {
      take();
      session.Write(batch);
    };
    behaviour.get = [take](Session& session, std::string_view key) {
      take();
      return session.Get(key);
    };
    behaviour.scan = [take](Session& session, std::string_view start,
                            Order order, const Visitor& visit) {
      session.Scan(start, order, [&](auto key, auto value) {
        take();
        return visit(key, value);
      });
    };
    return behaviour;
  }

  // Returns the measurement of the last of `names` on such an engine.
  Measurement Measure(const Behaviour& behaviour,
                      const std::vector<std::string_view>& names) {
    std::vector<Measurement> all;
    const Driver driver = Wrapped(behaviour);
    Runner runner(driver, config_, clock_);
    for (const std::string_view name : names) {
      calls_ = 0;
      all.push_back(runner.Run(*FindBenchmark(name)));
    }
    EXPECT_EQ(all.back().status, Status::kOk) << all.back().reason;
    return all.back();
  }

  uint64_t calls_ = 0;
};

std::vector<std::string_view> WithFill(std::string_view name) {
  if (FindBenchmark(name)->prepare == Prepare::kFresh) return {name};
  return {"filluniquerandom", name};
}

// Samples within 1 % of `ns`.
uint64_t CountAt(const Histogram& histogram, uint64_t ns) {
  uint64_t count = 0;
  for (const Histogram::Bucket& bucket : histogram.buckets()) {
    if (bucket.upper_ns >= ns - ns / 100 && bucket.lower_ns <= ns + ns / 100) {
      count += bucket.count;
    }
  }
  return count;
}

TEST_F(LatencyTest, ShowsExactlyTheInjectedStalls) {
  const auto cost_ns = [](uint64_t call) {
    if (call % 20'000 == 0) return 20 * kMilli;
    return call % 100 == 0 ? 1 * kMilli : 500;
  };
  for (const char* name :
       {"fillseq", "fillrandom", "overwrite", "deleterandom", "readrandom",
        "readmissing", "readhot", "seekrandom", "readseq", "readreverse"}) {
    const Measurement m = Measure(Taking(cost_ns), WithFill(name));
    ASSERT_EQ(m.run.loop.operations, 40'000u) << name;
    ASSERT_EQ(calls_, 40'000u) << name;
    EXPECT_EQ(m.run.trace.latency->count(), 40'000u) << name;
    EXPECT_EQ(CountAt(*m.run.trace.latency, 500), 40'000u - 400) << name;
    EXPECT_EQ(CountAt(*m.run.trace.latency, 1 * kMilli), 400u - 2) << name;
    EXPECT_EQ(CountAt(*m.run.trace.latency, 20 * kMilli), 2u) << name;
    EXPECT_EQ(m.run.trace.latency->sum_ns(), m.run.loop.loop_ns) << name;
  }
}

TEST_F(LatencyTest, IncludesTheFirstAndTheLastCall) {
  const auto cost_ns = [](uint64_t call) {
    return call == 1 ? 3 * kMilli : call == 40'000 ? 7 * kMilli : 500;
  };
  for (const char* name : {"fillseq", "overwrite", "readrandom", "readmissing",
                           "seekrandom", "readseq"}) {
    const Measurement m = Measure(Taking(cost_ns), WithFill(name));
    EXPECT_EQ(CountAt(*m.run.trace.latency, 3 * kMilli), 1u) << name;
    EXPECT_EQ(CountAt(*m.run.trace.latency, 7 * kMilli), 1u) << name;
    EXPECT_EQ(m.run.trace.latency->max_ns(), 7 * kMilli) << name;
    EXPECT_EQ(m.run.trace.latency->min_ns(), 500u) << name;
  }
}

TEST_F(LatencyTest, ABatchIsOneCall) {
  const auto cost_ns = [](uint64_t call) { return call * kMicro; };
  const Measurement m = Measure(Taking(cost_ns), {"fillseqbatch"});
  EXPECT_EQ(m.run.trace.latency->count(), 40u);
  EXPECT_EQ(m.run.trace.latency->max_ns(), 40 * kMicro);
  EXPECT_NE(StatLine(m).find("per batch, service time, closed loop"),
            std::string::npos);
}

// After each of the 40 batches is prepared, after each call, and after each
// clock check that followed a call; and once at the start.
TEST_F(LatencyTest, TimesACallFromWhenItsBatchIsPrepared) {
  const auto cost_ns = [](uint64_t) { return kMilli; };
  const uint64_t before = clock_.readings;
  config_.histogram = false;
  Measure(Taking(cost_ns), {"fillseqbatch"});
  const uint64_t untimed = clock_.readings - before;
  config_.histogram = true;
  Measure(Taking(cost_ns), {"fillseqbatch"});
  EXPECT_EQ(clock_.readings - before - 2 * untimed, 40u + 40 + 40 + 1);
}

TEST_F(LatencyTest, AThroughputRepetitionDoesTheSameOperations) {
  for (const char* name : {"fillrandom", "overwrite", "deleterandom",
                           "readrandom", "seekrandom", "readreverse"}) {
    config_.histogram = true;
    const Measurement timed = Measure({}, WithFill(name));
    config_.histogram = false;
    const Measurement untimed = Measure({}, WithFill(name));
    EXPECT_EQ(timed.digest, untimed.digest) << name;
    EXPECT_EQ(timed.run.loop.found, untimed.run.loop.found) << name;
    EXPECT_FALSE(untimed.run.trace.latency) << name;
  }
}

// Ten milliseconds per write: the time limit is reached in the middle of a
// block.
TEST_F(LatencyTest, TheOracleHoldsTheOperationsDoneWithinTheTimeLimit) {
  config_.num = 500;
  config_.duration_ns = 1'000 * kMilli;
  for (const char* name : {"fillseq", "fillrandom", "filluniquerandom",
                           "overwrite", "deleteseq", "deleterandom"}) {
    const std::vector<std::string_view> names = WithFill(name);
    bool slow = false;
    Behaviour behaviour =
        Taking([&](uint64_t) { return slow ? 10 * kMilli : 0; });
    const Driver driver = Wrapped(behaviour);
    Runner runner(driver, config_, clock_);
    if (names.size() > 1) runner.Run(*FindBenchmark(names[0]));
    slow = true;
    calls_ = 0;
    const Measurement m = runner.Run(*FindBenchmark(name));
    slow = false;
    EXPECT_TRUE(m.run.trace.truncated) << name;
    EXPECT_EQ(m.run.loop.operations, 100u) << name;
    EXPECT_EQ(calls_, 100u) << name;
    EXPECT_EQ(m.run.trace.timeline.points().back().operations, 100u);
    const Measurement audit = runner.Run(*FindBenchmark("verify"));
    EXPECT_EQ(audit.status, Status::kOk) << name << ": " << audit.reason;
    std::vector<AppliedBenchmark> past;
    if (names.size() > 1) past.push_back(ParseAfterWord(names[0]));
    past.push_back({FindBenchmark(name), m.run.operations_by_thread});
    config_.duration_ns = 0;
    const Measurement fresh = RunAfter(Wrapped({}), past, "verify");
    EXPECT_EQ(fresh.status, Status::kOk) << name << ": " << fresh.reason;
    config_.use_existing_db = false;
    config_.after.clear();
    config_.duration_ns = 1'000 * kMilli;
  }
}

TEST_F(LatencyTest, IsWrittenWithTheTimelineOfTheLoop) {
  const auto cost_ns = [](uint64_t call) {
    return call == 30'000 ? 300 * kMilli : kMicro;
  };
  const Measurement m = Measure(Taking(cost_ns), {"fillseq"});
  const auto json = nlohmann::json::parse(ToJsonLine(m, config_, kDriver));
  const auto& latency = json["latency_ns"];
  EXPECT_EQ(latency["count"], 40'000);
  EXPECT_EQ(latency["min"], kMicro);
  EXPECT_EQ(latency["max"], 300 * kMilli);
  EXPECT_EQ(latency["sum"], m.run.loop.loop_ns);
  EXPECT_EQ(latency["buckets"][0], nlohmann::json({1'000, 39'999}));
  EXPECT_TRUE(json["service_ns"].is_null());
  EXPECT_TRUE(json["open_loop"].is_null());
  EXPECT_GE(json["timeline"].size(), 100u);
  EXPECT_EQ(json["timeline"].back(),
            nlohmann::json({m.run.loop.loop_ns, 40'000}));
  EXPECT_EQ(json["stall_count"], 1);
  EXPECT_EQ(json["stalls"][0]["lasted_ns"], json["stalled_ns"]);
  EXPECT_NEAR(json["stalls"][0]["at_ns"], 30 * kMilli, 20 * kMicro);
}

TEST_F(LatencyTest, IsAbsentForAFailedBenchmark) {
  Behaviour behaviour;
  behaviour.get = [](Session&, std::string_view) { return std::nullopt; };
  const Driver driver = Wrapped(behaviour);
  Runner runner(driver, config_, clock_);
  runner.Run(*FindBenchmark("fillseq"));
  const Measurement m = runner.Run(*FindBenchmark("readrandom"));
  EXPECT_EQ(m.status, Status::kWrong);
  const auto json = nlohmann::json::parse(ToJsonLine(m, config_, kDriver));
  for (const char* key : {"timeline", "stalls", "stall_count", "stalled_ns",
                          "latency_ns", "service_ns", "open_loop"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
}

TEST_F(LatencyTest, ACompactionHasNoTimeline) {
  const Measurement m = Measure({}, {"fillseq", "compact"});
  EXPECT_TRUE(m.run.trace.timeline.points().empty());
  EXPECT_EQ(m.run.trace.stalls.count(), 0u);
  const auto json = nlohmann::json::parse(ToJsonLine(m, config_, kDriver));
  EXPECT_TRUE(json["latency_ns"].is_null());
  EXPECT_EQ(json["timeline"], nlohmann::json::array());
}

}  // namespace
}  // namespace kvmatrix
