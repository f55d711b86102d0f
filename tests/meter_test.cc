#include "common/meter.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/fake_clock.h"

namespace kvmatrix {
namespace {

TEST(Meter, ReadsTheClockTwiceWhenNobodyAsksForMore) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, 0, nullptr);
  meter.Start();
  for (uint64_t i = 1; i <= 1'000'000; ++i) ASSERT_TRUE(meter.Continue(i));
  clock.now_ns += 5'000;
  EXPECT_EQ(meter.StopNs(), 5'000u);
  EXPECT_EQ(clock.readings, 2u);
  EXPECT_FALSE(meter.expired());
}

TEST(Meter, EndsTheLoopAfterItsDuration) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, 1'000'000'000, nullptr);
  meter.Start();
  uint64_t operations = 0;
  do {
    clock.now_ns += 1'000'000;  // an operation takes a millisecond
  } while (meter.Continue(++operations));
  EXPECT_TRUE(meter.expired());
  EXPECT_GE(operations, 1000u);
  EXPECT_LE(operations, 1020u);
}

TEST(Meter, LooksRarelyWhenOperationsAreFast) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, 1'000'000'000, nullptr);
  meter.Start();
  uint64_t operations = 0;
  do {
    clock.now_ns += 100;
  } while (meter.Continue(++operations));
  EXPECT_NEAR(static_cast<double>(operations), 1e7, 2e5);
  EXPECT_LT(clock.readings, 1000u);
}

TEST(Meter, RecordsExactlyTheTimeOfEachCall) {
  FakeClock clock;
  Progress progress("");
  Histogram histogram;
  Meter meter(clock, progress, 0, &histogram);
  meter.Start();
  for (uint64_t i = 1; i <= 1000; ++i) {
    clock.now_ns += i % 100 == 0 ? 1'000'000 : 50;  // a stall now and then
    meter.Continue(i);
  }
  EXPECT_EQ(histogram.count(), 1000u);
  EXPECT_EQ(histogram.min(), 50u);
  EXPECT_EQ(histogram.max(), 1'000'000u);
  EXPECT_EQ(histogram.sum(), 990u * 50 + 10u * 1'000'000);
  EXPECT_EQ(histogram.Percentile(99), 50u);
  EXPECT_GE(histogram.Percentile(99.1), 1'000'000u);
}

TEST(Meter, ShowsProgressToAnotherProcess) {
  const auto file = std::filesystem::path(testing::TempDir()) / "progress";
  FakeClock clock;
  Progress progress(file);
  Meter meter(clock, progress, 0, nullptr);
  meter.Start();
  for (uint64_t i = 1; i <= 100; ++i) {
    clock.now_ns += 5'000'000;
    meter.Continue(i);
  }
  uint64_t seen = 0;
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(&seen), sizeof(seen));
  EXPECT_GT(seen, 50u);
  EXPECT_LE(seen, 100u);
}

}  // namespace
}  // namespace kvmatrix
