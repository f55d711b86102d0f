// The timeline and the stalls of loops of many shapes, through the meter.

#include "common/recording/timeline.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/random/random.h"
#include "common/timing/meter.h"
#include "tests/timing/fake_clock.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMilli = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

struct Loop {
  uint64_t loop_ns = 0;
  Timeline timeline;
  Stalls stalls;
  uint64_t readings = 0;  // of the clock
};

// Runs a loop of `calls` calls of `per_call` operations, the i-th of which
// lasts cost_ns(i).
Loop RunLoop(uint64_t calls, const std::function<uint64_t(uint64_t)>& cost_ns,
             uint64_t per_call = 1) {
  FakeClock clock;
  Progress progress("");
  Meter meter(clock, progress, {});
  meter.Start();
  for (uint64_t i = 0; i < calls; ++i) {
    clock.now_ns += cost_ns(i);
    meter.Continue((i + 1) * per_call);
  }
  Loop loop;
  loop.loop_ns = meter.StopNs(calls * per_call);
  const Meter* const meters[] = {&meter};
  const LoopTrace trace = Meter::Combine(meters);
  loop.timeline = trace.timeline;
  loop.stalls = trace.stalls;
  loop.readings = clock.readings;
  return loop;
}

void ExpectSound(const Loop& loop, uint64_t calls, uint64_t per_call = 1) {
  const auto& points = loop.timeline.points();
  ASSERT_LE(points.size(), 256u);
  ASSERT_GE(points.size(), calls < 256 ? calls : 100);
  Timeline::Point before{0, 0};
  for (const Timeline::Point& point : points) {
    ASSERT_GT(point.elapsed_ns, before.elapsed_ns);
    ASSERT_GT(point.operations, before.operations);
    before = point;
  }
  EXPECT_EQ(before.elapsed_ns, loop.loop_ns);
  EXPECT_EQ(before.operations, calls * per_call);
}

TEST(Timeline, HasTheSameNumberOfIntervalsAtAnyRate) {
  Random random(3);
  const std::function<uint64_t(uint64_t)> shapes[] = {
      [](uint64_t) { return 15; },
      [](uint64_t) { return 1'000; },
      [](uint64_t) { return 30 * kMilli; },
      [](uint64_t i) -> uint64_t { return i < 100 ? kSecond : 15; },
      [](uint64_t i) { return i < 200'000 ? 15 : 10 * kSecond; },
      [](uint64_t i) { return i % 50'000 == 0 ? kSecond : 200; },
      [](uint64_t i) { return uint64_t{1} << (i % 40); },
      [&random](uint64_t) {
        return 1 + (random.Next() >> (24 + random.Uniform(40)));
      }};
  for (const auto& shape : shapes) {
    for (const uint64_t calls :
         {1u, 2u, 100u, 255u, 256u, 257u, 300u, 1'000u, 10'000u, 200'050u}) {
      ExpectSound(RunLoop(calls, shape), calls);
      if (HasFatalFailure()) FAIL() << &shape - shapes << ", " << calls;
    }
    ExpectSound(RunLoop(700, shape, 1'000), 700, 1'000);
  }
}

TEST(Timeline, IntervalsAreShortComparedWithTheLoop) {
  for (const uint64_t calls : {1'000u, 50'000u, 2'000'000u}) {
    const Loop loop = RunLoop(calls, [](uint64_t) { return 100; });
    uint64_t before_ns = 0;
    for (const Timeline::Point& point : loop.timeline.points()) {
      EXPECT_LE(point.elapsed_ns - before_ns,
                loop.loop_ns / (calls < 2'000 ? 25 : 60));
      if (point.elapsed_ns < loop.loop_ns) {
        EXPECT_GE(point.elapsed_ns - before_ns, loop.loop_ns / 512);
      }
      EXPECT_EQ(point.elapsed_ns, point.operations * 100);
      before_ns = point.elapsed_ns;
    }
  }
}

TEST(Timeline, KeepsEqualSpacingWhenThinned) {
  Timeline timeline;
  for (uint64_t i = 1; i <= 257; ++i) timeline.Add(i, i);
  ASSERT_EQ(timeline.points().size(), 128u);
  EXPECT_EQ(timeline.points().back().elapsed_ns, 256u);
}

TEST(Timeline, HasRoomForTheEnd) {
  Timeline timeline;
  for (uint64_t i = 1; i <= 256; ++i) timeline.Add(i, i);
  ASSERT_EQ(timeline.points().size(), 256u);
  timeline.Finish(257, 257);
  EXPECT_EQ(timeline.points().size(), 256u);
  EXPECT_EQ(timeline.points().back().operations, 257u);
}

TEST(Timeline, ReadsTheClockRarelyEnoughToCostLittle) {
  const Loop loop = RunLoop(1'000'000, [](uint64_t) { return 15; });
  EXPECT_LT(loop.readings, 15 * kMilli / 100 / 50);  // 1 %, at 50 ns each
}

TEST(Timeline, EndsWhereTheLoopDoes) {
  Timeline timeline;
  timeline.Add(10, 1);
  timeline.Add(20, 2);
  timeline.Finish(25, 2);
  ASSERT_EQ(timeline.points().size(), 2u);
  EXPECT_EQ(timeline.points()[1].elapsed_ns, 25u);
  Timeline empty;
  empty.Finish(25, 0);
  EXPECT_TRUE(empty.points().empty());
}

TEST(Stalls, AreExactlyTheInjectedOnes) {
  const auto cost_ns = [](uint64_t i) -> uint64_t {
    if (i % 300'000 == 299'999) return 250 * kMilli;
    return i % 1'000 == 999 ? 50 * kMilli : 100;
  };
  const Loop loop = RunLoop(1'000'000, cost_ns);
  ASSERT_EQ(loop.stalls.count(), 3u);
  uint64_t total_ns = 0;
  for (size_t i = 0; i < 3; ++i) {
    const Stalls::Stall& stall = loop.stalls.first()[i];
    EXPECT_NEAR(stall.lasted_ns, 250 * kMilli, 32'000);
    const uint64_t before = 300'000 * (i + 1) - 1;
    const uint64_t began_ns =
        before * 100 + before / 1'000 * (50 * kMilli - 100) + i * 200 * kMilli;
    EXPECT_NEAR(stall.at_ns, began_ns, 32'000);
    total_ns += stall.lasted_ns;
  }
  EXPECT_EQ(loop.stalls.total_ns(), total_ns);
}

TEST(Stalls, AreDetectedInTheFirstAndTheLastCall) {
  const auto cost_ns = [](uint64_t i) -> uint64_t {
    return i % 5'432 == 0 ? 150 * kMilli : 15;
  };
  EXPECT_EQ(RunLoop(5'433, cost_ns).stalls.count(), 2u);
}

TEST(Stalls, AreCountedBeyondThoseListed) {
  const Loop loop = RunLoop(150, [](uint64_t) { return 100 * kMilli; });
  EXPECT_EQ(loop.stalls.count(), 150u);
  EXPECT_EQ(loop.stalls.total_ns(), 150 * 100 * kMilli);
  EXPECT_EQ(loop.stalls.first().size(), 100u);
  EXPECT_EQ(loop.stalls.first()[99].at_ns, 99 * 100 * kMilli);
}

TEST(Stalls, DoNotIncludeASlowStretch) {
  const auto cost_ns = [](uint64_t i) -> uint64_t {
    return i < 100'000 ? 1'000 : kMilli;
  };
  EXPECT_EQ(RunLoop(101'000, cost_ns).stalls.count(), 0u);
}

// Only the one check that was planned at the fast pace comes late.
TEST(Stalls, TheClockIsReadOftenAsSoonAsASlowStretchBegins) {
  const auto cost_ns = [](uint64_t i) -> uint64_t {
    return i < 1'000'000 ? 15 : kMilli;
  };
  EXPECT_LE(RunLoop(1'010'000, cost_ns).stalls.count(), 1u);
}

}  // namespace
}  // namespace kvmatrix
