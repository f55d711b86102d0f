#include "common/random/zipf.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random/permutation.h"

namespace kvmatrix {
namespace {

constexpr int kDraws = 2'000'000;

std::vector<double> LawOf(uint64_t n, double theta) {
  std::vector<double> shares(n);
  double sum = 0;
  for (uint64_t r = n; r-- > 0;) {
    sum += shares[r] = std::pow(static_cast<double>(r + 1), -theta);
  }
  for (double& share : shares) share /= sum;
  return shares;
}

// Pearson's statistic over bins with at least 50 expected draws each,
// normalised: if the draws follow `shares`, it is near 0 in units of its
// standard deviation.
template <typename Draw>
double ChiSquareSigmas(const std::vector<double>& shares, Draw draw) {
  std::vector<uint64_t> counts(shares.size());
  for (int i = 0; i < kDraws; ++i) ++counts.at(draw());
  double sum = 0, expected = 0, bins = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    expected += shares[i] * kDraws;
    count += counts[i];
    if (expected < 50 && i + 1 < shares.size()) continue;
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
    expected = 0;
    count = 0;
    ++bins;
  }
  return (sum - (bins - 1)) / std::sqrt(2 * bins);
}

class ZipfLaw : public testing::TestWithParam<std::tuple<uint64_t, double>> {};

TEST_P(ZipfLaw, IsWhatIsDrawn) {
  const auto [n, theta] = GetParam();
  const ZipfRanks ranks(n, theta);
  Random random(17);
  EXPECT_LT(ChiSquareSigmas(LawOf(n, theta), [&] { return ranks(random); }), 5);
}

INSTANTIATE_TEST_SUITE_P(
    All, ZipfLaw,
    testing::Combine(testing::Values(2, 10, 1000, 100'000),
                     testing::Values(0.01, 0.5, 0.99, 0.9999999, 1.0, 1.0000001,
                                     1.2, 3.0, 20.0)));

// The statistic that accepts the law rejects Gray's formula, which is not the
// law.
TEST(ZipfRanks, DifferFromTheFormulaOfGray) {
  const std::vector<double> law = LawOf(1000, 0.99);
  double zeta = 0;
  for (int r = 1; r <= 1000; ++r) zeta += std::pow(r, -0.99);
  const GrayZipf formula(1000, 0.99, zeta);
  Random random(17);
  EXPECT_GT(ChiSquareSigmas(law, [&] { return formula(random); }), 100);
}

TEST(ZipfRanks, AreTheSameDrawnTogether) {
  for (const double theta : {0.3, 0.99, 1.0, 2.0}) {
    const ZipfRanks ranks(1000, theta);
    Random alone(4), together(4);
    for (const size_t count : {1, 3, 16, 17, 1000}) {
      std::vector<uint64_t> drawn(count);
      ranks.Draw(together, drawn);
      for (const uint64_t rank : drawn) ASSERT_EQ(rank, ranks(alone));
    }
  }
}

TEST(YcsbZipf, IsTheSameDrawnTogether) {
  const YcsbZipf zipf;
  Random alone(4), together(4);
  for (const uint64_t keys :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, uint64_t{4096},
        uint64_t{999'999'937}, uint64_t{1} << 62}) {
    std::vector<uint64_t> drawn(100'000);
    zipf.Draw(together, keys, drawn);
    for (const uint64_t key : drawn) ASSERT_EQ(key, zipf(alone, keys));
  }
}

TEST(ZipfRanks, AcceptASingleItem) {
  Random random(1);
  const ZipfRanks ranks(1, 0.99);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(ranks(random), 0u);
}

TEST(ZipfRanks, ReachBothEndsOfManyItems) {
  constexpr uint64_t kItems = 10'000'000'000'000'000;
  const ZipfRanks ranks(kItems, 0.2);
  Random random(1);
  uint64_t highest = 0, lowest = kItems;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t rank = ranks(random);
    ASSERT_LT(rank, kItems);
    highest = std::max(highest, rank);
    lowest = std::min(lowest, rank);
  }
  EXPECT_GT(highest, kItems - kItems / 1000);
  EXPECT_LT(lowest, kItems / 1000);
}

TEST(ZipfRanks, AreSmallForAnyNumberOfItems) {
  EXPECT_LE(sizeof(ZipfRanks), 128u);
  EXPECT_LE(sizeof(YcsbZipf), 128u);
  EXPECT_LE(sizeof(Permutation), 128u);
}

// The share of draws that fall on the hottest 1, 10, 1 % and 10 % of keys.
template <typename Draw>
std::vector<double> HotShares(uint64_t keys, Draw draw) {
  std::vector<uint64_t> counts(keys);
  for (int i = 0; i < 10 * kDraws; ++i) ++counts.at(draw());
  std::ranges::sort(counts, std::greater());
  std::vector<double> shares;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < keys / 10; ++i) {
    sum += counts[i];
    if (i + 1 == 1 || i + 1 == 10 || i + 1 == keys / 100 || i + 1 == keys / 10)
      shares.push_back(static_cast<double>(sum) / (10.0 * kDraws));
  }
  return shares;
}

void ExpectShares(const std::vector<double>& found,
                  const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 0.001) << i;
  }
}

// method 6.2 of the sources: 7.83, 23.1, 60.5 and 80.0 %.
TEST(ZipfRanks, GiveTheHottestKeysThePublishedShares) {
  const ZipfRanks ranks(100'000, 0.99);
  const Permutation scatter(100'000, 3);
  Random random(2);
  ExpectShares(HotShares(100'000, [&] { return scatter(ranks(random)); }),
               {0.0783, 0.231, 0.605, 0.800});
}

// The same table of YCSB's 10^10 hashed items, drawn by the law itself ...
TEST(ZipfRanks, OfYcsbsItemsAreMuchLessSkewed) {
  const ZipfRanks ranks(YcsbZipf::kItems, YcsbZipf::kTheta);
  Random random(2);
  ExpectShares(
      HotShares(100'000,
                [&] { return YcsbZipf::KeyOf(ranks(random), 100'000); }),
      {0.0378, 0.112, 0.298, 0.442});
}

// ... and as YCSB draws them, by the formula that favours ranks from the third.
TEST(YcsbZipf, GivesTheHottestKeysTheSharesOfItsFormula) {
  const YcsbZipf zipf;
  Random random(2);
  ExpectShares(HotShares(100'000, [&] { return zipf(random, 100'000); }),
               {0.0378, 0.118, 0.304, 0.448});
}

TEST(YcsbZipf, DrawsRanksByItsFormula) {
  const YcsbZipf zipf;
  Random random(5);
  const std::vector<uint64_t> ranks = {1,   2,      3,         4,
                                       100, 10'000, 1'000'000, 1'000'000'000};
  std::vector<uint64_t> below(ranks.size());
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t rank = zipf.Rank(random);
    ASSERT_LT(rank, YcsbZipf::kItems);
    for (size_t j = 0; j < ranks.size(); ++j) below[j] += rank < ranks[j];
  }
  for (size_t j = 0; j < ranks.size(); ++j) {
    const double share = zipf.ShareBelow(ranks[j]);
    const double sigma = std::sqrt(share * (1 - share) / kDraws);
    EXPECT_NEAR(static_cast<double>(below[j]) / kDraws, share, 5 * sigma)
        << ranks[j];
  }
  EXPECT_EQ(zipf.ShareBelow(0), 0);
  EXPECT_EQ(zipf.ShareBelow(YcsbZipf::kItems), 1);
}

// FNV-1a of eight zero bytes and of 1, as any other implementation has them,
// without the sign.
TEST(YcsbZipf, HashesAsFnv1a) {
  const auto fnv = [](const std::vector<uint8_t>& bytes) {
    uint64_t hash = 14695981039346656037u;
    for (const uint8_t byte : bytes) {
      hash ^= byte;
      hash *= 1099511628211u;
    }
    const auto value = static_cast<int64_t>(hash);
    return static_cast<uint64_t>(value < 0 ? -value : value);
  };
  EXPECT_EQ(YcsbHash(0), fnv({0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(YcsbHash(1), fnv({1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(YcsbHash(0x0102030405), fnv({5, 4, 3, 2, 1, 0, 0, 0}));
  EXPECT_EQ(YcsbHash(0), 6284781860667377211u);
}

}  // namespace
}  // namespace kvmatrix
