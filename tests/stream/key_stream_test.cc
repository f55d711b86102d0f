#include "common/stream/key_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kvmatrix {
namespace {

constexpr uint64_t kHugeKeySpace = 1'000'000'000'000;

std::vector<uint64_t> Take(KeyStream stream, size_t count) {
  std::vector<uint64_t> keys(count);
  for (uint64_t& key : keys) key = stream.Next();
  return keys;
}

TEST(Permutation, IsABijection) {
  for (const uint64_t n : {1, 2, 3, 10, 255, 256, 257, 1000, 99991, 262145}) {
    const Permutation permutation(n, 42);
    std::vector<bool> seen(n);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t element = permutation(i);
      ASSERT_LT(element, n);
      ASSERT_FALSE(seen[element]) << "n " << n << " element " << element;
      seen[element] = true;
      ASSERT_EQ(permutation.Inverse(element), i);
    }
  }
}

TEST(Permutation, WorksOnMoreKeysThanMemoryHolds) {
  const Permutation permutation(kHugeKeySpace, 42);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_LT(permutation(i), kHugeKeySpace);
    EXPECT_NE(permutation(i), permutation(i + 1));
    EXPECT_EQ(permutation.Inverse(permutation(i)), i);
  }
}

// With the table of a small permutation and without it.
TEST(Permutation, AppliesToManyPlacesAsToEach) {
  for (const uint64_t n : {1, 3, 1000, 1'100'000, 16'777'216, 16'777'217}) {
    Permutation permutation(n, 42);
    for (const size_t count : {size_t{1}, Permutation::kMaxApply}) {
      std::vector<uint64_t> places(count), expected;
      for (uint64_t i = 0; i < count; ++i) places[i] = (i * i + n / 2) % n;
      for (const uint64_t i : places) expected.push_back(permutation(i));
      permutation.Apply(places);
      EXPECT_EQ(places, expected) << n;
    }
  }
}

TEST(KeyStream, SequentialCountsAndWraps) {
  EXPECT_EQ(Take(KeyStream(KeyOrder::kSequential, 3, 1), 5),
            (std::vector<uint64_t>{0, 1, 2, 0, 1}));
}

TEST(KeyStream, UniqueTakesEachKeyOnce) {
  std::vector<uint64_t> keys =
      Take(KeyStream(KeyOrder::kUnique, 1000, 1), 1000);
  EXPECT_FALSE(std::ranges::is_sorted(keys));
  std::ranges::sort(keys);
  for (uint64_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], i);
}

// 1 - 1/e of the keys are hit by n draws from n.
TEST(KeyStream, UniformHitsTheShareThatTheoryPredicts) {
  constexpr uint64_t kKeys = 100'000;
  std::vector<bool> seen(kKeys);
  for (const uint64_t key :
       Take(KeyStream(KeyOrder::kUniform, kKeys, 1), kKeys))
    seen[key] = true;
  const auto hit = static_cast<double>(std::ranges::count(seen, true));
  const double expected = kKeys * (1 - std::exp(-1));
  const double sigma = std::sqrt(kKeys * (std::exp(-1) - 2 * std::exp(-2)));
  EXPECT_NEAR(hit, expected, 5 * sigma);
}

TEST(KeyStream, HotStaysInTheFirstHundredth) {
  for (const uint64_t keys : {1u, 99u, 100u, 101u, 5000u}) {
    uint64_t highest = 0;
    for (const uint64_t key : Take(KeyStream(KeyOrder::kHot, keys, 1), 1000)) {
      highest = std::max(highest, key);
    }
    EXPECT_EQ(highest, (keys + 99) / 100 - 1) << keys;
  }
}

TEST(KeyStream, ZipfIsRanksScatteredBySeed) {
  constexpr uint64_t kKeys = 1000;
  const KeyDraw draw(KeyOrder::kZipf, 1.2, 99);
  const Permutation scatter(kKeys, 99);
  const ZipfRanks ranks(kKeys, 1.2);
  Random random(5);
  for (const uint64_t key : Take(KeyStream(draw, kKeys, 5), 1000)) {
    ASSERT_EQ(key, scatter(ranks(random)));
  }
}

// Two threads or benchmarks draw different sequences with the same frequent
// keys.
TEST(KeyStream, ZipfHasTheSameHotKeysInEveryStream) {
  const auto hottest = [](uint64_t seed) {
    std::vector<int> counts(1000);
    for (const uint64_t key :
         Take(KeyStream({KeyOrder::kZipf, 1.0, 99}, 1000, seed), 10'000)) {
      ++counts[key];
    }
    return std::ranges::max_element(counts) - counts.begin();
  };
  EXPECT_EQ(hottest(1), hottest(2));
  EXPECT_NE(Take(KeyStream({KeyOrder::kZipf, 1.0, 99}, 1000, 1), 20),
            Take(KeyStream({KeyOrder::kZipf, 1.0, 99}, 1000, 2), 20));
}

TEST(KeyStream, LatestFavoursTheHighestKey) {
  constexpr uint64_t kKeys = 1000;
  const ZipfRanks ranks(kKeys, 0.99);
  Random random(5);
  for (const uint64_t key :
       Take(KeyStream({KeyOrder::kLatest, 0.99}, kKeys, 5), 1000)) {
    ASSERT_EQ(key, kKeys - 1 - ranks(random));
  }
}

TEST(KeyStream, YcsbZipfIsYcsbs) {
  const YcsbZipf zipf;
  Random random(5);
  for (const uint64_t key :
       Take(KeyStream(KeyOrder::kYcsbZipf, 777, 5), 1000)) {
    ASSERT_EQ(key, zipf(random, 777));
  }
}

TEST(KeyStream, IsSmallForAnyNumberOfKeys) {
  EXPECT_LE(sizeof(KeyStream), 2048u);
}

TEST(KeyStream, OrdersAreFoundByName) {
  for (const char* name : {"uniform", "permutation", "zipf", "ycsb-zipf", "hot",
                           "latest", "sequential"}) {
    EXPECT_TRUE(FindKeyOrder(name)) << name;
  }
  EXPECT_EQ(FindKeyOrder("permutation"), KeyOrder::kUnique);
  EXPECT_EQ(FindKeyOrder("zipfian"), std::nullopt);
}

TEST(KeyStream, SeedsGiveUnrelatedStreams) {
  const auto one = Take(
      KeyStream(KeyOrder::kUniform, 1000, StreamSeed(301, "fillrandom", 0)),
      10'000);
  for (const uint64_t seed :
       {StreamSeed(301, "fillrandom", 1), StreamSeed(301, "readrandom", 0),
        StreamSeed(302, "fillrandom", 0)}) {
    const auto other = Take(KeyStream(KeyOrder::kUniform, 1000, seed), 10'000);
    int equal = 0;
    for (size_t i = 0; i < one.size(); ++i) equal += one[i] == other[i];
    EXPECT_LT(equal, 50);  // 10 expected by chance
  }
}

// Raise kMethod when this changes: the stream of all measurements changes.
TEST(KeyStream, IsTheRecordedOne) {
  const uint64_t seed = StreamSeed(301, "fillrandom", 0);
  EXPECT_EQ(Take(KeyStream(KeyOrder::kUniform, 1'000'000, seed), 4),
            (std::vector<uint64_t>{111186, 361411, 597900, 540739}));
  EXPECT_EQ(Take(KeyStream(KeyOrder::kUnique, 1'000'000, seed), 4),
            (std::vector<uint64_t>{111099, 553953, 517232, 875898}));
}

}  // namespace
}  // namespace kvmatrix
