// The schedule of an open loop, and how it shows the stalls of an engine.

#include "common/timing/open_loop.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/cli/flags.h"
#include "common/cli/json_output.h"
#include "common/cli/text_output.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMicro = 1'000;
constexpr uint64_t kMilli = 1'000'000;

// Returns the events of all threads in their order, in units of which there is
// one event of a thread on average.
std::vector<double> EventsOf(uint64_t threads, uint64_t of_each) {
  std::vector<double> events;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    Arrivals arrivals(7, {thread, threads});
    double time = 0;
    for (uint64_t i = 0; i < of_each; ++i) {
      events.push_back(time += arrivals.NextGap());
    }
  }
  std::ranges::sort(events);
  return events;
}

TEST(Arrivals, OfAllThreadsTogetherArePoisson) {
  constexpr int kGaps = 1'000'000;
  for (const uint64_t threads : {1, 2, 8}) {
    double sum = 0, squares = 0, products = 0, before = 1, last = 0;
    int long_gaps = 0;
    for (const double event : EventsOf(threads, kGaps / threads)) {
      const double gap = (event - last) * static_cast<double>(threads);
      ASSERT_GE(gap, 0);
      last = event;
      sum += gap;
      squares += gap * gap;
      products += (gap - 1) * (before - 1);
      long_gaps += gap > 3;
      before = gap;
    }
    EXPECT_NEAR(sum / kGaps, 1, 0.005);
    EXPECT_NEAR(squares / kGaps, 2, 0.03);    // variance 1
    EXPECT_NEAR(products / kGaps, 0, 0.005);  // no gap knows the one before
    EXPECT_NEAR(1.0 * long_gaps / kGaps, std::exp(-3), 0.001);
  }
}

// As many events of each thread as of the others, at any time: none is left to
// run on its own, at a fraction of the rate.
TEST(Arrivals, OfAllThreadsEndTogether) {
  constexpr uint64_t kThreads = 8, kEach = 10'000;
  std::vector<double> ends;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    Arrivals arrivals(7, {thread, kThreads});
    double time = 0;
    for (uint64_t i = 0; i < kEach; ++i) time += arrivals.NextGap();
    ends.push_back(time);
  }
  const auto [first, last] = std::ranges::minmax(ends);
  EXPECT_LT(last - first, 5);  // ten standard deviations of a block
  EXPECT_GT(last - first, 0);
}

TEST(Arrivals, AreAFunctionOfTheSeed) {
  Arrivals one(7), same(7), other(8);
  const double gap = one.NextGap();
  EXPECT_EQ(gap, same.NextGap());
  EXPECT_NE(gap, other.NextGap());
}

TEST(OpenLoop, NeverMakesACallThatIsDueInCenturies) {
  FakeClock clock;
  clock.now_ns = kMilli;
  OpenLoop loop(clock, 1e-4, Arrivals(7));
  loop.Start(clock.now_ns);
  EXPECT_EQ(loop.DueNs(1'000'000'000), kMilli + (uint64_t{1} << 62));
  EXPECT_LT(loop.DueNs(1), uint64_t{1} << 62);
}

// Makes calls that last service_ns(i), at `rate` per second.
template <typename Service>
OpenLoop Loop(FakeClock& clock, double rate, int calls, Service service_ns) {
  OpenLoop loop(clock, rate, Arrivals(7));
  loop.Start(clock.now_ns);
  for (int i = 0; i < calls; ++i) {
    loop.Await(1);
    clock.now_ns += service_ns(i);
    loop.Finish();
  }
  return loop;
}

TEST(OpenLoop, KeepsToItsScheduleHoweverLongACallTakes) {
  FakeClock quick, slow;
  const auto idle = Loop(quick, 1e5, 10'000, [](int) { return 0; });
  const auto stalled = Loop(slow, 1e5, 10'000, [](int i) {
    return i == 5'000 ? 10 * kMilli : kMicro;
  });
  // The last call is due at the same time, and the loop has caught up after the
  // stall.
  EXPECT_EQ(quick.now_ns + kMicro, slow.now_ns);
  EXPECT_EQ(idle.Figures().offered_ops_per_sec,
            stalled.Figures().offered_ops_per_sec);
  EXPECT_EQ(idle.Figures().late_starts, 0u);
  EXPECT_EQ(idle.Figures().max_lag_ns, 0u);
  EXPECT_EQ(idle.latency().max(), 0u);
  EXPECT_FALSE(stalled.Figures().saturated());
  EXPECT_GT(stalled.Figures().late_starts, 900u);
  EXPECT_LT(stalled.Figures().max_lag_ns, 10 * kMilli);
  EXPECT_GT(stalled.Figures().max_lag_ns, 9 * kMilli);
}

TEST(OpenLoop, OffersTheRequestedRate) {
  FakeClock clock;
  const auto loop = Loop(clock, 2'000, 100'000, [](int) { return kMicro; });
  EXPECT_NEAR(loop.Figures().offered_ops_per_sec, 2'000, 20);
  EXPECT_NEAR(loop.Figures().achieved_ops_per_sec, 2'000, 20);
  EXPECT_EQ(loop.Figures().rate_ops_per_sec, 2'000);
}

TEST(OpenLoop, TheIntervalGrowsWithTheBatch) {
  FakeClock clock;
  OpenLoop loop(clock, 1e6, Arrivals(7));
  loop.Start(0);
  for (int i = 0; i < 10'000; ++i) {
    loop.Await(1'000);
    loop.Finish();
  }
  EXPECT_NEAR(loop.Figures().offered_ops_per_sec, 1e6, 4e4);
  EXPECT_EQ(loop.latency().count(), 10'000u);
}

// A call that waits for its predecessor starts late: its time from there is
// short, and from its intended start it is long.
TEST(OpenLoop, CountsFromTheIntendedStart) {
  FakeClock clock;
  const auto loop = Loop(
      clock, 1e6, 2, [](int i) { return i == 0 ? 10 * kMilli : 3 * kMicro; });
  EXPECT_EQ(loop.service().min(), 3 * kMicro);
  EXPECT_EQ(loop.service().max(), 10 * kMilli);
  EXPECT_GT(loop.latency().min(), 9 * kMilli);
  EXPECT_EQ(loop.Figures().late_starts, 1u);
}

class OpenLoopRuns : public RunnerFixture {
 protected:
  OpenLoopRuns() {
    config_.num = 210'000;
    config_.reads = 210'000;
  }

  // An engine of 1 us with a stall of 20 ms every 20,000 calls.
  Behaviour Stalling() {
    const auto take = [this] {
      clock_.now_ns += ++calls_ % 20'000 == 0 ? 20 * kMilli : kMicro;
    };
    Behaviour behaviour;
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
      take();
      session.Scan(start, order, visit);
    };
    return behaviour;
  }

  uint64_t calls_ = 0;
};

TEST_F(OpenLoopRuns, ShowWhatAClosedLoopHides) {
  const std::vector<std::string_view> names = {"fillseq", "readrandom",
                                               "seekrandom", "overwrite"};
  config_.num = config_.reads = 53'000;  // no stall is among the last calls
  config_.histogram = true;
  for (const Measurement& m : Run(Wrapped(Stalling()), names)) {
    EXPECT_LE(*m.run.trace.latency->At(9900), 1'010u);
    EXPECT_FALSE(m.run.trace.service);
    EXPECT_FALSE(m.run.trace.open_loop);
    EXPECT_NE(StatLine(m).find("service time, closed loop"), std::string::npos);
  }
  config_.rate_ops_per_sec = 100'000;
  for (const Measurement& m : Run(Wrapped(Stalling()), names)) {
    EXPECT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_GT(*m.run.trace.latency->At(9900), 10 * kMilli);
    EXPECT_LE(*m.run.trace.service->At(9900), 1'010u);
    EXPECT_EQ(m.run.trace.latency->count(), 53'000u);
    EXPECT_NEAR(m.run.trace.open_loop->achieved_ops_per_sec, 1e5, 1e3);
    const std::string text = StatLine(m);
    EXPECT_NE(text.find("from the intended start"), std::string::npos);
    EXPECT_NE(text.find("service time, open loop"), std::string::npos);
  }
}

TEST_F(OpenLoopRuns, GiveNoPercentilesOfASaturatedEngine) {
  config_.rate_ops_per_sec = 600'000;  // the engine can do 512,000
  const Measurement m = Run(Wrapped(Stalling()), {"fillseq"}).front();
  EXPECT_TRUE(m.run.trace.open_loop->saturated());
  EXPECT_FALSE(m.run.trace.latency);
  EXPECT_FALSE(m.run.trace.service);
  const std::string text = StatLine(m);
  EXPECT_NE(text.find("saturated: achieved 496133 of 597291 ops/s offered"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("Percentiles"), std::string::npos);
  const auto json = nlohmann::json::parse(ToJsonLine(m, config_, kDriver));
  EXPECT_TRUE(json["latency_ns"].is_null());
  EXPECT_TRUE(json["service_ns"].is_null());
  EXPECT_EQ(json["open_loop"]["saturated"], true);
  EXPECT_EQ(json["open_loop"]["rate_ops_per_sec"], 600'000);
  EXPECT_EQ(json["open_loop"]["late_starts"],
            m.run.trace.open_loop->late_starts);
}

TEST_F(OpenLoopRuns, APauseIsNotAStall) {
  config_.num = 300;
  config_.rate_ops_per_sec = 2;
  Measurement m = Run(Wrapped({}), {"fillseq"}).front();
  EXPECT_EQ(m.run.trace.stalls.count(), 0u);
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    if (++calls_ == 200) clock_.now_ns += 150 * kMilli;
    session.Write(batch);
  };
  m = Run(Wrapped(behaviour), {"fillseq"}).front();
  ASSERT_EQ(m.run.trace.stalls.count(), 1u);
  EXPECT_EQ(m.run.trace.stalls.first()[0].lasted_ns, 150 * kMilli);
}

TEST_F(OpenLoopRuns, HaveNoFiguresIfNothingWasDue) {
  config_.rate_ops_per_sec = 0.01;
  config_.duration_ns = kMilli;
  const Measurement m = Run(Wrapped({}), {"fillseq"}).front();
  EXPECT_EQ(m.status, Status::kError);
  EXPECT_EQ(m.reason,
            "no operation was due within --duration; raise it or --rate");
}

// A call that is not due within the limit is not recorded in the oracle either.
TEST_F(OpenLoopRuns, KeepTheWritesDoneWithinTheTimeLimit) {
  config_.num = 50;
  config_.rate_ops_per_sec = 10;
  config_.duration_ns = 1'000 * kMilli;
  const auto all =
      Run(Wrapped({}), {"fillseq", "overwrite", "fillrandom", "verify"});
  for (const Measurement& m : all) EXPECT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_LT(all[0].run.loop.operations, 30u);
}

// The calls that become due during a stall are the slowest ones.
TEST_F(OpenLoopRuns, MeasureWhatIsDueInAStallThatOutlastsTheLimit) {
  config_.num = 30'000;
  config_.rate_ops_per_sec = 20'000;
  config_.duration_ns = 1'000 * kMilli;
  const auto run = [this](uint64_t stall_ns) {
    Behaviour behaviour;
    bool is_over = false;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      const bool stalls = !is_over && clock_.now_ns >= 996 * kMilli;
      is_over |= stalls;
      clock_.now_ns += stalls ? stall_ns : kMicro;
      session.Write(batch);
    };
    clock_.now_ns = 0;
    return Run(Wrapped(behaviour), {"fillseq"}).front();
  };
  const Measurement quick = run(kMicro), stalled = run(9 * kMilli);
  EXPECT_EQ(stalled.run.trace.latency->count(),
            quick.run.trace.latency->count());
  EXPECT_LT(*quick.run.trace.latency->At(9990), kMilli);
  EXPECT_GT(*stalled.run.trace.latency->At(9990), 5 * kMilli);
  EXPECT_TRUE(stalled.run.trace.truncated);
  // One that cannot be made good is saturated: the calls are left out.
  const Measurement saturated = run(20 * kMilli);
  EXPECT_FALSE(saturated.run.trace.latency);
  EXPECT_TRUE(saturated.run.trace.open_loop->saturated());
}

TEST_F(OpenLoopRuns, EndSoonAfterTheLimitIfSaturated) {
  config_.rate_ops_per_sec = 100'000'000;  // the engine can do 512,000
  config_.duration_ns = 100 * kMilli;
  const Measurement m = Run(Wrapped(Stalling()), {"fillseq"}).front();
  EXPECT_TRUE(m.run.trace.open_loop->saturated());
  EXPECT_LE(m.run.loop.loop_ns,
            125 * kMilli);  // one stall may be the last call
}

// A loop that has completed its work does not wait for the limit.
TEST_F(OpenLoopRuns, EndWithTheirLastCallIfThatComesFirst) {
  config_.num = 2;
  config_.rate_ops_per_sec = 10;
  config_.duration_ns = 1'000'000 * kMilli;
  const Measurement m = Run(Wrapped({}), {"fillseq"}).front();
  EXPECT_FALSE(m.run.trace.truncated);
  EXPECT_LT(m.run.loop.loop_ns, 2'000 * kMilli);
}

TEST(Rate, IsRefusedForABenchmarkThatIsOneCall) {
  const gflags::FlagSaver saver;
  gflags::SetCommandLineOption("rate", "1000");
  gflags::SetCommandLineOption("benchmarks", "fillseq,readrandom,seekrandom");
  EXPECT_EQ(ConfigFromFlags().rate_ops_per_sec, 1'000);
  for (const char* name : {"readseq", "readreverse", "compact", "verify"}) {
    gflags::SetCommandLineOption("benchmarks", name);
    try {
      ConfigFromFlags();
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find("--rate: "), 0u);
    }
  }
}

TEST(Rate, IsFiniteAndInTheRangeThatTheErrorNames) {
  const gflags::FlagSaver saver;
  gflags::SetCommandLineOption("benchmarks", "fillseq");
  for (const char* rate : {"0", "0.01", "1e9"}) {
    gflags::SetCommandLineOption("rate", rate);
    EXPECT_NO_THROW(ConfigFromFlags()) << rate;
  }
  for (const char* rate : {"-1", "1e-9", "1.1e9", "inf", "nan"}) {
    gflags::SetCommandLineOption("rate", rate);
    try {
      ConfigFromFlags();
      ADD_FAILURE() << rate;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("0.01 to 10^9"),
                std::string::npos);
    }
  }
}

// One period per second: its first half has more calls than its second.
TEST(OpenLoopTest, SwingsItsRate) {
  FakeClock clock;
  constexpr double kTurn = 6.283185307179586;
  OpenLoop loop(
      clock, 10'000, Arrivals(7),
      {.amplitude = 0.5, .radians_per_s = kTurn, .interval_ns = 1'000'000});
  clock.now_ns = 5'000;
  loop.Start(clock.now_ns);
  int halves[2] = {};
  for (int i = 0; i < 11'000; ++i) {
    loop.Await(1);
    const uint64_t since_ns = clock.now_ns - 5'000;
    if (since_ns < 1'000'000'000) ++halves[since_ns / 500'000'000];
    loop.Finish();
  }
  // The mean of a sine over its first half is 2 / pi.
  EXPECT_NEAR(halves[0], 5'000 * (1 + 0.5 * 4 / kTurn), 4 * 81);
  EXPECT_NEAR(halves[1], 5'000 * (1 - 0.5 * 4 / kTurn), 4 * 58);
}

}  // namespace
}  // namespace kvmatrix
