#include "common/stream/value_sizes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/stream/values.h"

namespace kvmatrix {
namespace {

constexpr int kDraws = 1'000'000;

std::vector<ValueSizes> AllSizes() {
  return {ValueSizes(100),
          ValueSizes::Uniform(1, 199),
          ValueSizes::Uniform(100, 102'400),
          ValueSizes::Uniform(7, 7),
          ValueSizes::Normal(25, 175),
          ValueSizes::Normal(100, 102'400),
          ValueSizes::Normal(9, 9),
          ValueSizes::Pareto(1, 3200, 0.2615, 73.85),
          ValueSizes::Pareto(10, 1024, 0.2615, 25.45),
          ValueSizes::Pareto(1, 1000, 0, 30),
          ValueSizes::Pareto(1, 300, 0.0001, 30),
          ValueSizes::Pareto(0, 65'535, 0.5, 9),
          ValueSizes::Normal(0, 30'000),
          ValueSizes::Pareto(1, 1 << 30, 2.5, 14)};
}

class Sizes : public testing::TestWithParam<size_t> {
 protected:
  const ValueSizes sizes_ = AllSizes()[GetParam()];
};

// The guide changes no size: at random positions, and around every change of
// size.
TEST_P(Sizes, DependOnTheLawAlone) {
  Random random(5);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t root = random.Next();
    ASSERT_EQ(sizes_.Of(root), sizes_.ComputeOf(root)) << root;
  }
}

// The number of values that have at least this many bytes.
TEST_P(Sizes, FollowTheirLaw) {
  const std::vector<double> quantiles = {0.001, 0.01, 0.1,  0.25, 0.5,
                                         0.75,  0.9,  0.99, 0.999};
  std::vector<size_t> bounds;
  for (const double quantile : quantiles) {
    bounds.push_back(sizes_.Quantile(quantile));
    bounds.push_back(bounds.back() + 1);
  }
  std::vector<uint64_t> above(bounds.size());
  Random random(3);
  for (int i = 0; i < kDraws; ++i) {
    const size_t size = sizes_.Of(random.Next());
    ASSERT_GE(size, sizes_.min());
    ASSERT_LE(size, sizes_.max());
    for (size_t j = 0; j < bounds.size(); ++j) above[j] += size >= bounds[j];
  }
  for (size_t j = 0; j < bounds.size(); ++j) {
    const double share = sizes_.ShareFrom(bounds[j]);
    const double sigma = std::sqrt(share * (1 - share) / kDraws);
    EXPECT_NEAR(static_cast<double>(above[j]) / kDraws, share, 5 * sigma + 1e-6)
        << bounds[j];
  }
}

TEST_P(Sizes, HaveTheStatedMean) {
  double sum = 0, squares = 0;
  Random random(4);
  for (int i = 0; i < kDraws; ++i) {
    const auto size = static_cast<double>(sizes_.Of(random.Next()));
    sum += size;
    squares += size * size;
  }
  const double mean = sum / kDraws;
  const double sigma = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  // With a tail as heavy as k = 2.5, no sample has the mean of the
  // distribution.
  if (sizes_.max() < (1 << 30)) {
    EXPECT_NEAR(mean, sizes_.Mean(), 5 * sigma + 0.001 * mean);
  }
}

TEST_P(Sizes, QuantilesAreTheSmallestSizesThatReachThem) {
  for (const double quantile : {0.01, 0.5, 0.99}) {
    const size_t size = sizes_.Quantile(quantile);
    EXPECT_GE(1 - sizes_.ShareFrom(size + 1), quantile);
    if (size > sizes_.min()) {
      EXPECT_LT(1 - sizes_.ShareFrom(size), quantile);
    }
  }
}

TEST_P(Sizes, AreThoseOfGrowingValues) {
  if (sizes_.max() > 200'000) return;
  const Values values(301, sizes_, 0.5);
  std::string buffer(values.buffer_size(), '\0');
  for (uint64_t key = 0; key < 300; ++key) {
    const size_t size = values.Write(key, 2, buffer.data());
    ASSERT_EQ(size, values.SizeOf(values.Root(key, 2)));
    const std::string value = buffer.substr(0, size);
    ASSERT_TRUE(values.IsValueOf(values.Root(key, 2), value));
    ASSERT_FALSE(values.IsValueOf(values.Root(key, 2), value + "x"));
    if (size == 0) continue;
    ASSERT_FALSE(
        values.IsValueOf(values.Root(key, 2), value.substr(0, size - 1)));
    for (size_t i = 0; i < size; i += 1 + size / 50) {
      std::string damaged = value;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
      ASSERT_FALSE(values.IsValueOf(values.Root(key, 2), damaged)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Sizes,
                         testing::Range(size_t{0}, AllSizes().size()));

TEST(ValueSizes, AreFoundByName) {
  for (const SizeLaw law : {SizeLaw::kFixed, SizeLaw::kUniform,
                            SizeLaw::kNormal, SizeLaw::kPareto}) {
    EXPECT_EQ(FindSizeLaw(SizeLawName(law)), law);
  }
  EXPECT_EQ(SizeLawName(SizeLaw::kPareto), "pareto");
  EXPECT_EQ(FindSizeLaw("zipf"), std::nullopt);
}

TEST(ValueSizes, AreThoseOfMixgraphOnAverage) {
  EXPECT_NEAR(ValueSizes::Pareto(0, 1 << 30, 0.2615, 25.45).Mean(), 35, 0.2);
}

// Raise kMethod when this changes: the stream of all measurements changes.
TEST(ValueSizes, AreTheRecordedOnes) {
  const uint64_t root = Values(301, 100, 0.5).Root(123456, 2);
  EXPECT_EQ(ValueSizes::Uniform(1, 199).Of(root), 146u);
  EXPECT_EQ(ValueSizes::Normal(25, 175).Of(root), 115u);
  EXPECT_EQ(ValueSizes::Pareto(1, 3200, 0.2615, 73.85).Of(root), 25u);
}

// Raise kMethod when this changes: the stream of all measurements changes.
TEST(ValueSizes, OfManyAreTheRecordedOnes) {
  std::vector<uint64_t> sums;
  for (const ValueSizes& sizes : AllSizes()) {
    uint64_t sum = 0;
    Random random(6);
    for (int i = 0; i < 300'000; ++i) sum = sum * 31 + sizes.Of(random.Next());
    sums.push_back(sum);
  }
  const std::vector<uint64_t> recorded = {
      18446209211191998464u, 5950626237329603349u,  6793838134430728271u,
      737832322572153344u,   14374187852048487648u, 6797086107117577522u,
      8854389017754004992u,  12194849133793095587u, 17160572898803290255u,
      9645135932940750098u,  10811542824141979933u, 17471446902949131532u,
      7978626315846605025u,  4893007680789126553u};
  EXPECT_EQ(sums, recorded);
}

}  // namespace
}  // namespace kvmatrix
