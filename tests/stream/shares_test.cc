#include <gtest/gtest.h>

#include <cmath>

#include "common/random/share_theory.h"
#include "common/random/skewed_draws.h"
#include "common/random/zipf.h"
#include "common/run/distribution_check.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

TEST(Theory, ZetaEqualsTheSum) {
  for (const double theta : {0.01, 0.5, 0.99, 1.0, 1.5, 10.0}) {
    for (const uint64_t n : {1, 2, 1000, 1001, 5000, 300'000}) {
      double sum = 0;
      for (uint64_t r = n; r > 0; --r) {
        sum += std::pow(static_cast<double>(r), -theta);
      }
      EXPECT_NEAR(Zeta(n, theta) / sum, 1, 1e-11) << n << " " << theta;
    }
  }
}

TEST(Theory, ZetaEqualsYcsbsConstant) {
  EXPECT_NEAR(Zeta(10'000'000'000, 0.99), YcsbZipf::kZeta, 1e-9);
}

// method 6.2 of the sources, and of any n.
TEST(Theory, ZipfSharesAreThePublishedOnes) {
  EXPECT_NEAR(ZipfShare(1, 100'000, 0.99), 0.0783, 0.00005);
  EXPECT_NEAR(ZipfShare(10, 100'000, 0.99), 0.231, 0.0005);
  EXPECT_NEAR(ZipfShare(1'000, 100'000, 0.99), 0.605, 0.0005);
  EXPECT_NEAR(ZipfShare(10'000, 100'000, 0.99), 0.800, 0.0005);
  EXPECT_EQ(ZipfShare(77, 77, 0.99), 1);
}

struct Case {
  KeyOrder order;
  double theta;
  uint64_t keys;
};

class Drawn : public testing::TestWithParam<Case> {};

// Five standard deviations, plus the error of the approximated tail of YCSB's
// distribution.
TEST_P(Drawn, IsWhatTheoryPredicts) {
  const auto& [order, theta, keys] = GetParam();
  const KeyDraw draw(order, theta, 11);
  const std::vector<Share> shares = KeyShares(draw, keys, 5, 1'000'000'000);
  ASSERT_GE(shares.size(), 1u);
  for (const Share& share : shares) {
    const double sigma =
        std::sqrt(share.expected * (1 - share.expected) / kMaxDraws);
    const double slack = order == KeyOrder::kYcsbZipf ? 0.002 : 1e-9;
    EXPECT_NEAR(share.observed, share.expected, 5 * sigma + slack)
        << share.what;
  }
}

// A stream with another exponent differs from this prediction: the comparison
// above can fail.
TEST_P(Drawn, IsNotWhatAnotherExponentPredicts) {
  const auto& [order, theta, keys] = GetParam();
  if (order != KeyOrder::kZipf && order != KeyOrder::kLatest) return;
  const auto here = KeyShares({order, theta, 11}, keys, 5, kMaxDraws);
  const auto other = KeyShares({order, theta * 1.05, 11}, keys, 5, kMaxDraws);
  double farthest = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    const double theory = other[i].expected;
    const double sigma = std::sqrt(theory * (1 - theory) / kMaxDraws);
    farthest = std::max(farthest,
                        std::abs(here[i].observed - theory) / (sigma + 1e-9));
  }
  EXPECT_GT(farthest, 5);
}

INSTANTIATE_TEST_SUITE_P(
    All, Drawn,
    testing::Values(
        Case{KeyOrder::kZipf, 0.99, 1000}, Case{KeyOrder::kZipf, 0.99, 100'000},
        Case{KeyOrder::kZipf, 1.0, 1000}, Case{KeyOrder::kZipf, 0.5, 100'000},
        Case{KeyOrder::kZipf, 1.5, 100'000},
        Case{KeyOrder::kZipf, 0.99, 1'000'000'000},
        Case{KeyOrder::kLatest, 0.99, 1000},
        Case{KeyOrder::kLatest, 0.99, 100'000},
        Case{KeyOrder::kLatest, 1.2, 1'000'000'000},
        Case{KeyOrder::kYcsbZipf, 0.99, 1000},
        Case{KeyOrder::kYcsbZipf, 0.99, 100'000},
        Case{KeyOrder::kYcsbZipf, 0.99, 1'000'000'000},
        Case{KeyOrder::kYcsbLatest, 0.99, 1000},
        Case{KeyOrder::kYcsbLatest, 0.99, 3},
        Case{KeyOrder::kYcsbLatest, 0.99, 1'000'000'000},
        Case{KeyOrder::kHotspot, 0.99, 1}, Case{KeyOrder::kHotspot, 0.99, 1000},
        Case{KeyOrder::kHotspot, 0.99, 1'000'000'000},
        Case{KeyOrder::kExponential, 0.99, 1},
        Case{KeyOrder::kExponential, 0.99, 1000},
        Case{KeyOrder::kExponential, 0.99, 1'000'000'000},
        Case{KeyOrder::kHot, 0.99, 1000}, Case{KeyOrder::kHot, 0.99, 100'000}));

// The definitions: 80 % of the draws fall on the first 20 % of the keys, all
// alike; and 95 % on the newest 6/7, apart from those that no key is left for.
TEST(Drawn, OfYcsbHaveTheStatedFractions) {
  constexpr uint64_t kKeys = 1'000;
  KeyDraw draw(KeyOrder::kHotspot);
  draw.hotspot = {0.3, 0.6};
  EXPECT_EQ(KeyShares(draw, kKeys, 5, kMaxDraws).front().expected, 0.6);
  std::vector<double> drawn(kKeys);
  KeyStream keys(draw, kKeys, 5);
  for (uint64_t i = 0; i < kMaxDraws; ++i)
    drawn[keys.Next()] += 1.0 / kMaxDraws;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const double share = key < 300 ? 0.6 / 300 : 0.4 / 700;
    EXPECT_NEAR(drawn[key], share, 6 * std::sqrt(share / kMaxDraws)) << key;
  }
  const Exponential ages(kKeys, {});
  EXPECT_NEAR(ages.ShareOfNewest(857), 0.95, 0.0001);
  KeyStream newest(KeyOrder::kExponential, kKeys, 5);
  double of_newest = 0;
  for (uint64_t i = 0; i < kMaxDraws; ++i) of_newest += newest.Next() >= 143;
  EXPECT_NEAR(of_newest / kMaxDraws, 0.95 / ages.ShareOfNewest(kKeys), 0.003);
}

TEST(Shares, NameOneTenAndPercents) {
  const auto names = [](uint64_t keys) {
    std::vector<std::string> names;
    for (const Share& share : KeyShares(KeyOrder::kZipf, keys, 5, 10)) {
      names.push_back(share.what);
    }
    return names;
  };
  EXPECT_EQ(names(1'000'000),
            (std::vector<std::string>{"hottest key", "hottest 10 keys",
                                      "hottest 1 % of keys",
                                      "hottest 10 % of keys"}));
  EXPECT_EQ(names(500),
            (std::vector<std::string>{"hottest key", "hottest 10 keys",
                                      "hottest 10 % of keys"}));
  EXPECT_EQ(names(1), (std::vector<std::string>{"hottest key"}));
}

TEST(Shares, AreAbsentIfAllKeysAreEquallyLikely) {
  for (const KeyOrder order :
       {KeyOrder::kUniform, KeyOrder::kUnique, KeyOrder::kSequential}) {
    EXPECT_TRUE(KeyShares(order, 1000, 5, 1000).empty());
  }
}

TEST(Shares, OfSizesAreThoseOfPresentValues) {
  Oracle oracle;
  oracle.ResetToPrefix(100'000, 100, 50'000);
  const Values values(301, ValueSizes::Uniform(1, 199), 0.5);
  const std::vector<Share> shares = SizeShares(values, oracle, 5);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_NEAR(shares[0].observed, 100, 2);
  EXPECT_DOUBLE_EQ(shares[0].expected, 100);
  EXPECT_NEAR(shares[1].observed, 100, 3);
  EXPECT_EQ(shares[1].expected, 100);
  EXPECT_NEAR(shares[2].observed, 198, 2);
  EXPECT_EQ(shares[2].expected, 198);
  EXPECT_TRUE(SizeShares(Values(301, 100, 0.5), oracle, 5).empty());
  oracle.Reset(1000, 100);
  EXPECT_TRUE(SizeShares(values, oracle, 5).empty());
}

}  // namespace
}  // namespace kvmatrix
