#include "common/timing/meter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/timing/fake_clock.h"

namespace kvmatrix {
namespace {

TEST(Meter, TakesTheTimeOfTheLoop) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, {});
  clock.now_ns = 1'000;
  meter.Start();
  clock.now_ns += 5'000;
  EXPECT_TRUE(meter.Continue(1));
  EXPECT_EQ(meter.StopNs(1), 5'000u);
  EXPECT_FALSE(meter.expired());
  EXPECT_EQ(meter.Latency(), std::nullopt);
  EXPECT_EQ(meter.OpenLoopResult(), std::nullopt);
}

TEST(Meter, EndsTheLoopAfterItsDuration) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, {.duration_ns = 1'000'000'000});
  meter.Start();
  uint64_t operations = 0;
  do {
    clock.now_ns += 1'000'000;  // an operation takes a millisecond
  } while (meter.Continue(++operations));
  EXPECT_TRUE(meter.expired());
  EXPECT_EQ(operations, 1'000u);
}

TEST(Meter, ReadsTheClockRarelyWhenOperationsAreFast) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, {.duration_ns = 1'000'000'000});
  meter.Start();
  uint64_t operations = 0;
  do {
    clock.now_ns += 100;
  } while (meter.Continue(++operations));
  EXPECT_NEAR(static_cast<double>(operations), 1e7, 160);
  EXPECT_LT(clock.readings, 130'000u);
}

TEST(Meter, RecordsExactlyTheTimeOfEachCall) {
  for (const double ns_per_tick : {1.0, 0.5}) {
    FakeClock clock;
    clock.ns_per_tick = ns_per_tick;
    Progress progress("");
    Meter meter(clock, progress, {.latencies = true});
    meter.Start();
    for (uint64_t i = 1; i <= 1000; ++i) {
      clock.now_ns += 777;  // to prepare
      meter.ExcludePreparation();
      clock.now_ns += i % 100 == 0 ? 1'000'000 : 50;  // a stall now and then
      meter.Continue(i);
    }
    meter.StopNs(1000);
    const Histogram histogram = *meter.Latency();
    EXPECT_EQ(histogram.count(), 1000u);
    EXPECT_EQ(histogram.min_ns(), 50u);
    EXPECT_EQ(histogram.max_ns(), 1'000'000u);
    EXPECT_EQ(histogram.sum_ns(), 990u * 50 + 10u * 1'000'000);
    EXPECT_EQ(histogram.At(9900), 50u);
  }
}

TEST(Meter, AReadingOfTheClockIsNotPartOfTheNextCall) {
  FakeClock clock;
  clock.step_ns = 30;  // what a reading takes
  Progress progress("");
  Meter meter(clock, progress, {.latencies = true});
  meter.Start();
  for (uint64_t i = 1; i <= 1000; ++i) meter.Continue(i);
  EXPECT_EQ(meter.Latency()->max_ns(), 30u);
}

TEST(Meter, AClockThatStepsBackGivesNoLongLatency) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, {.latencies = true});
  clock.now_ns = 1'000;
  meter.Start();
  clock.now_ns = 2'000;
  meter.Continue(1);
  clock.now_ns = 1'990;
  meter.ExcludePreparation();
  clock.now_ns = 1'980;
  meter.Continue(2);
  EXPECT_EQ(meter.Latency()->max_ns(), 1'000u);
}

TEST(Meter, ShowsProgressToAnotherProcess) {
  const auto file = std::filesystem::path(testing::TempDir()) /
                    ("progress-" + std::to_string(getpid()));
  FakeClock clock;
  Progress progress(file);
  Meter meter(clock, progress, {});
  meter.Start();
  for (uint64_t i = 1; i <= 100; ++i) {
    clock.now_ns += 5'000'000;
    meter.Continue(i);
  }
  uint64_t seen = 0;
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(&seen), sizeof(seen));
  EXPECT_EQ(seen, 100u);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace kvmatrix
