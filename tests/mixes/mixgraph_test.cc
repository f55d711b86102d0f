// mixgraph's model: RocksDB's way of drawing, number by number, and the
// corrected one, by its distributions.

#include "common/mixes/mixgraph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

namespace kvmatrix {
namespace {

constexpr MixgraphParameters kPublished;
constexpr uint64_t kKeys = 1'000'000;
constexpr int kDraws = 400'000;

// Four standard deviations of a share over that many draws.
double Tolerance(double share, double draws) {
  return 4 * std::sqrt(share * (1 - share) / draws);
}

TEST(MersenneTwister, FirstNumberIsTheLibrarys) {
  for (const uint64_t seed :
       {uint64_t{0}, uint64_t{1}, uint64_t{5489}, uint64_t{38'912'345},
        uint64_t{1} << 63, ~uint64_t{0}}) {
    std::mt19937_64 twister(seed);
    EXPECT_EQ(FirstOfMersenneTwister(seed), twister()) << seed;
  }
}

// Computed by a second program from the formulas of db_bench_tool.cc.
TEST(Mixgraph, DrawsWhatRocksDbDrawsFromTheSameNumber) {
  struct Golden {
    uint64_t draw;
    Operation operation;
    uint64_t key, length, size;
  };
  constexpr Golden kMillion[] = {
      {1, Operation::kGet, 34'946, 0, 0},
      {829, Operation::kGet, 972'969, 0, 0},
      {830, Operation::kPut, 980'590, 0, 525},
      {969, Operation::kPut, 969'547, 0, 501},
      {970, Operation::kSeek, 968'962, 234, 0},
      {999, Operation::kSeek, 985'138, 89, 0},
      {971, Operation::kSeek, 971'392, 7'730, 0},
      {123'456, Operation::kGet, 576'061, 0, 0},
      {123'970, Operation::kSeek, 987'674, 1'078, 0},
      {500'900, Operation::kPut, 971'184, 0, 20},
      {999'999, Operation::kSeek, 968'270, 1, 0},
  };
  constexpr Golden kFiftyMillion[] = {
      {7, Operation::kGet, 6'982'478, 0, 0},
      {875, Operation::kPut, 48'649'128, 0, 586},
      {31'415'926, Operation::kPut, 49'070'184, 0, 13},
      {49'999'975, Operation::kSeek, 48'748'964, 1, 0},
  };
  const auto expect = [](const Golden& golden, const MixStep& step) {
    EXPECT_EQ(step.operation, golden.operation) << golden.draw;
    EXPECT_EQ(step.key, golden.key) << golden.draw;
    EXPECT_EQ(step.scan_length, golden.length) << golden.draw;
    EXPECT_EQ(step.value_size.value_or(0), golden.size) << golden.draw;
  };
  const MixgraphStream million(kPublished, kKeys, 1);
  for (const Golden& golden : kMillion) expect(golden, million.Of(golden.draw));
  const MixgraphStream large(kPublished, 50'000'000, 1);
  for (const Golden& golden : kFiftyMillion) {
    expect(golden, large.Of(golden.draw));
  }
}

TEST(Mixgraph, OverflowsAsRocksDbDoes) {
  MixgraphParameters puts = kPublished;
  puts.mix_get_ratio = puts.mix_seek_ratio = 0;
  EXPECT_EQ(MixgraphStream(puts, kKeys, 1).Of(0).value_size, 10u);
  MixgraphParameters scans = kPublished;
  scans.mix_get_ratio = scans.mix_put_ratio = 0;
  EXPECT_EQ(MixgraphStream(scans, kKeys, 1).Of(0).scan_length, 0u);
}

TEST(KeyRangesOfMixgraph, AreHotAsTheModelSays) {
  const KeyRanges ranges(kPublished);
  ASSERT_EQ(ranges.size(), 30u);
  EXPECT_EQ(ranges.total(), 667u);
  EXPECT_EQ(ranges.Hotness(29), 538u);  // 80.7 % of all
  EXPECT_EQ(ranges.Hotness(23), 38u);
  std::map<uint64_t, uint64_t> shares;
  for (uint64_t share = 0; share < ranges.total(); ++share) {
    ++shares[ranges.Of(share)];
  }
  for (uint64_t range = 0; range < ranges.size(); ++range) {
    EXPECT_EQ(shares[range], ranges.Hotness(range));
  }
}

// A hotness beyond all numbers, and more shares than can be counted.
TEST(KeyRangesOfMixgraph, AreNoneIfTheModelOverflows) {
  for (const double b : {1e9, 40.0}) {
    MixgraphParameters steep = kPublished;
    steep.keyrange_dist_b = b;
    EXPECT_EQ(KeyRanges(steep).total(), 0u) << b;
  }
  MixgraphParameters steep = kPublished;
  steep.keyrange_dist_b = -1.4;
  EXPECT_GT(KeyRanges(steep).total(), 667u);
}

// Consequence of a single number for everything: if the number is the key, two
// operations on a key have the same type.
TEST(Mixgraph, NeverGetsAKeyThatItPutsWhereKeysAreUniform) {
  MixgraphParameters uniform = kPublished;
  uniform.key_dist_a = 0;
  constexpr uint64_t kFew = 1'000;
  const auto overlap = [&](MixStream& stream) {
    std::set<uint64_t> put, both;
    for (int i = 0; i < 20'000; ++i) {
      const MixStep step = stream.Next();
      if (step.operation == Operation::kPut) put.insert(step.key);
      if (step.operation == Operation::kGet && put.contains(step.key)) {
        both.insert(step.key);
      }
    }
    return both.size();
  };
  MixgraphStream as_rocksdb(uniform, kFew, 3);
  EXPECT_EQ(overlap(as_rocksdb), 0u);
  CorrectedStream corrected(uniform, kFew, 3);
  EXPECT_GT(overlap(corrected), 600u);
}

TEST(CorrectedMixgraph, HasTheSharesOfTheModel) {
  CorrectedStream stream(kPublished, kKeys, 7);
  const KeyRanges ranges(kPublished);
  std::map<Operation, double> types;
  double hottest = 0, entries = 0, scans = 0;
  for (int i = 0; i < kDraws; ++i) {
    const MixStep step = stream.Next();
    ASSERT_LT(step.key, kKeys);
    ++types[step.operation];
    hottest += step.key / (kKeys / 30) == 29;
    if (step.operation != Operation::kSeek) continue;
    ASSERT_LE(step.scan_length, 10'000u);
    ASSERT_FALSE(step.value_size);
    entries += static_cast<double>(step.scan_length);
    ++scans;
  }
  EXPECT_NEAR(types[Operation::kGet] / kDraws, 0.83, Tolerance(0.83, kDraws));
  EXPECT_NEAR(types[Operation::kPut] / kDraws, 0.14, Tolerance(0.14, kDraws));
  EXPECT_NEAR(types[Operation::kSeek] / kDraws, 0.03, Tolerance(0.03, kDraws));
  EXPECT_NEAR(hottest / kDraws, 538.0 / 667, Tolerance(538.0 / 667, kDraws));
  // A clamped length has a standard deviation of about 2,200.
  const double mean = MeanScanLength(kPublished);
  EXPECT_NEAR(entries / scans, mean, 4 * 2'200 / std::sqrt(scans));
}

TEST(MeansOfMixgraph, AreThoseOfItsDraws) {
  MixgraphStream stream(kPublished, kKeys, 7);
  const MixgraphStream::Means means = stream.ComputeMeans();
  double entries = 0, scans = 0, bytes = 0, puts = 0;
  for (int i = 0; i < kDraws; ++i) {
    const MixStep step = stream.Next();
    if (step.operation == Operation::kSeek) {
      entries += static_cast<double>(step.scan_length);
      ++scans;
    } else if (step.operation == Operation::kPut) {
      bytes += static_cast<double>(*step.value_size);
      ++puts;
    }
  }
  EXPECT_NEAR(entries / scans, means.scan_length, 4 * 1'500 / std::sqrt(scans));
  EXPECT_NEAR(bytes / puts, means.value_size, 4 * 50 / std::sqrt(puts));
  // 34.46 bytes is the mean of the model without the minimum and the wrapping.
  EXPECT_NEAR(means.value_size, 36.2, 0.3);
}

TEST(ParetoInverse, IsTheInverseOfTheDistribution) {
  // P(X > x) = (1 + k x / sigma)^(-1/k).
  for (const double u : {0.001, 0.25, 0.9}) {
    const double x = ParetoInverse(u, 0, 0.2615, 25.45);
    EXPECT_NEAR(std::pow(1 + 0.2615 * x / 25.45, -1 / 0.2615), u, 1e-12);
  }
  EXPECT_NEAR(ParetoInverse(0.5, 3, 0, 2), 3 + 2 * std::log(2), 1e-12);
}

}  // namespace
}  // namespace kvmatrix
