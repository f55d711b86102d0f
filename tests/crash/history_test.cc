// The states of a history, by brute force.

#include "common/crash/history.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/random/random.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSeed = 7;

using State = std::map<uint64_t, std::string>;  // what a database holds, by key

// Returns a history, and the state after each of its commits; 0: empty.
std::pair<History, std::vector<State>> SomeHistory(uint64_t seed, int commits) {
  History history(seed);
  std::vector<State> states(1);
  Random random(seed);
  for (int n = 1; n <= commits; ++n) {
    const auto updates = static_cast<uint32_t>(1 + random.Uniform(40));
    State state = states.back();
    for (const Change& change : history.Add(updates, kCrashValueBytes)) {
      if (change.is_put) {
        state[change.key] = CrashValue(seed, n, change.index, kCrashValueBytes);
      } else {
        state.erase(change.key);
      }
    }
    states.push_back(state);
  }
  return {std::move(history), std::move(states)};
}

std::map<uint64_t, Found> FoundIn(const History& history, const State& state) {
  std::map<uint64_t, Found> found;
  for (const auto& [key, versions] : history.versions()) {
    const auto it = state.find(key);
    std::optional<std::string_view> value;
    if (it != state.end()) value = it->second;
    found[key] = history.Identify(key, value);
  }
  return found;
}

TEST(HistoryTest, TheStateAfterEachCommitFitsItAlone) {
  const auto [history, states] = SomeHistory(kSeed, 60);
  for (uint64_t n = 0; n < states.size(); ++n) {
    const Fit fit = history.FitOf(FoundIn(history, states[n]));
    ASSERT_TRUE(fit.prefix) << n;
    EXPECT_EQ(states[*fit.prefix], states[n]) << n;
    EXPECT_GE(*fit.prefix, n);  // the latest of equal states
    EXPECT_EQ(fit.misfits, 0u);
    EXPECT_EQ(history.Entries(n), states[n].size());
  }
}

TEST(HistoryTest, AMixtureOfStatesFitsOnlyWhatBruteForceFinds) {
  const auto [history, states] = SomeHistory(kSeed, 30);
  Random random(1);
  int without = 0;
  for (int round = 0; round < 300; ++round) {
    State mixed = states[random.Uniform(states.size())];
    const State& other = states[random.Uniform(states.size())];
    for (uint64_t taken = 1 + random.Uniform(3); taken > 0; --taken) {
      const uint64_t key = random.Uniform(kCrashKeys);
      mixed.erase(key);
      if (other.contains(key)) mixed[key] = other.at(key);
    }
    std::optional<uint64_t> expected;
    for (uint64_t n = 0; n < states.size(); ++n)
      if (states[n] == mixed) expected = n;
    const Fit fit = history.FitOf(FoundIn(history, mixed));
    EXPECT_EQ(fit.prefix, expected) << round;
    if (!expected) {
      ++without;
      EXPECT_GT(fit.misfits, 0u);
    }
  }
  EXPECT_GT(without, 50);  // or this has tested nothing
}

// A database that is as it was before two commits need not lack them.
TEST(HistoryTest, OfEqualStatesTheLatestIsMeant) {
  for (uint64_t seed = 1; seed < 200'000; ++seed) {
    History history(seed);
    const uint64_t key = history.Add(1, kCrashValueBytes).at(0).key;
    if (history.Add(1, kCrashValueBytes).at(0).is_put) continue;
    const Fit fit = history.FitOf({{key, Found{}}});
    EXPECT_EQ(fit.prefix, 2u);
    return;
  }
  FAIL() << "no commit deletes what the one before has put";
}

TEST(HistoryTest, AValueIsKnownToTheByte) {
  const auto [history, states] = SomeHistory(kSeed, 20);
  const auto& [key, value] = *states.back().begin();
  const Found found = history.Identify(key, value);
  ASSERT_NE(found.version, nullptr);
  EXPECT_EQ(history.Newest(key, found), found.version->commit);
  for (size_t at = 0; at < value.size(); ++at) {
    std::string other = value;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_TRUE(history.Identify(key, other).is_foreign) << at;
  }
  EXPECT_TRUE(history.Identify(key, value + "x").is_foreign);
  EXPECT_TRUE(history.Identify(key, "").is_foreign);
  const auto other_key = std::next(states.back().begin())->first;
  EXPECT_TRUE(history.Identify(other_key, value).is_foreign);
}

TEST(HistoryTest, HasOverwritesAndDeletesOfKeysThatAreThere) {
  const auto [history, states] = SomeHistory(kSeed, 200);
  uint64_t deletes = 0, overwrites = 0;
  for (const auto& [key, versions] : history.versions()) {
    EXPECT_TRUE(versions.front().is_put);
    for (size_t i = 1; i < versions.size(); ++i) {
      EXPECT_TRUE(versions[i].is_put || versions[i - 1].is_put);
      deletes += !versions[i].is_put;
      overwrites += versions[i].is_put && versions[i - 1].is_put;
    }
  }
  EXPECT_GT(deletes, 100u);
  EXPECT_GT(overwrites, 100u);
}

TEST(HistoryTest, IsAFunctionOfTheSeed) {
  EXPECT_EQ(CrashValue(1, 2, 3, 100), CrashValue(1, 2, 3, 100));
  EXPECT_NE(CrashValue(1, 2, 3, 100), CrashValue(2, 2, 3, 100));
  EXPECT_NE(CrashKey(1), CrashKey(2));
  EXPECT_EQ(CrashKey(1).size(), 16u);
}

}  // namespace
}  // namespace kvmatrix
