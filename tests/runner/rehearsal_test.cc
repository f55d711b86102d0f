// The warm-up of engines that are compiled just in time.

#include "common/run/rehearsal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMilli = 1'000'000;
constexpr uint64_t kSecond = 1'000 * kMilli;

class RehearsalTest : public RunnerFixture {
 protected:
  // Returns what a rehearsal says of an engine whose gets last `get_ns(i)`.
  std::optional<Rehearsal> RehearseGets(
      std::string_view name, std::function<uint64_t(uint64_t)> get_ns) {
    Behaviour behaviour;
    behaviour.get = [this, get_ns = std::move(get_ns)](Session& session,
                                                       std::string_view key) {
      clock_.now_ns += get_ns(gets_++);
      return session.Get(key);
    };
    Driver driver = Wrapped(behaviour);
    driver.rehearses = [] { return true; };
    return Rehearse(driver, *FindBenchmark(name), config_, clock_);
  }

  uint64_t gets_ = 0;
};

TEST_F(RehearsalTest, EndsOnceThreeWindowsAreEqual) {
  const auto rehearsal = RehearseGets("readrandom", [](uint64_t i) {
    return kMilli + 2'000 * (1'000 - std::min<uint64_t>(i, 1'000));
  });
  ASSERT_TRUE(rehearsal);
  EXPECT_TRUE(rehearsal->steady);
  // 1,000 calls, each a little faster, take 2 s; then 200 last 200 ms.
  EXPECT_GE(rehearsal->elapsed_ns, 2 * kSecond);
  EXPECT_LT(rehearsal->elapsed_ns, 4 * kSecond);
}

TEST_F(RehearsalTest, GivesUpAfterTenSeconds) {
  const auto rehearsal = RehearseGets("readrandom", [this](uint64_t) {
    return (1 + clock_.now_ns / (200 * kMilli) % 3) * kMilli;
  });
  ASSERT_TRUE(rehearsal);
  EXPECT_FALSE(rehearsal->steady);
  EXPECT_GE(rehearsal->elapsed_ns, 10 * kSecond);
}

TEST_F(RehearsalTest, IsOnADatabaseThatIsGoneAfterwards) {
  RehearseGets("readrandom", [](uint64_t) { return kMilli; });
  EXPECT_GT(gets_, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(config_.db));
}

TEST_F(RehearsalTest, OpensAScratchDatabaseBeforeAnAudit) {
  int opened = 0, closed = 0;
  Behaviour behaviour;
  behaviour.open = [&] { ++opened; };
  behaviour.close = [&] { ++closed; };
  Driver driver = Wrapped(behaviour);
  driver.rehearses = [] { return true; };
  EXPECT_FALSE(Rehearse(driver, *FindBenchmark("verify"), config_, clock_));
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(closed, 1);
  EXPECT_TRUE(std::filesystem::is_empty(config_.db));
}

TEST_F(RehearsalTest, IsOnlyForWhatGetsFaster) {
  EXPECT_FALSE(RehearseGets("compact", [](uint64_t) { return kMilli; }));
  const Benchmark& reads = *FindBenchmark("readrandom");
  Driver driver = Wrapped({});
  EXPECT_FALSE(Rehearse(driver, reads, config_, clock_));
  driver.rehearses = [] { return false; };
  EXPECT_FALSE(Rehearse(driver, reads, config_, clock_));
}

}  // namespace
}  // namespace kvmatrix
