#include "common/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/random.h"

namespace kvmatrix {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_TRUE(histogram.Buckets().empty());
}

TEST(Histogram, HoldsEveryValueWithinAHundredth) {
  for (int shift = 0; shift < 64; ++shift) {
    for (const uint64_t value :
         {(uint64_t{1} << shift) - 1, uint64_t{1} << shift,
          (uint64_t{1} << shift) + 1, ~uint64_t{0}}) {
      Histogram histogram;
      histogram.Add(value);
      const auto buckets = histogram.Buckets();
      ASSERT_EQ(buckets.size(), 1u);
      ASSERT_LE(buckets[0].lower, value);
      ASSERT_GE(buckets[0].upper, value);
      ASSERT_LE(static_cast<double>(buckets[0].upper - buckets[0].lower),
                0.008 * static_cast<double>(value));
      ASSERT_EQ(histogram.min(), value);
      ASSERT_EQ(histogram.max(), value);
    }
  }
}

TEST(Histogram, PercentilesEqualSortingWithinAHundredth) {
  Random random(1);
  std::vector<uint64_t> samples(20'000);
  Histogram histogram;
  uint64_t sum = 0;
  for (uint64_t& sample : samples) {
    sample = uint64_t{1} << random.Uniform(30);
    sample += random.Uniform(sample);
    histogram.Add(sample);
    sum += sample;
  }
  std::ranges::sort(samples);
  for (const double percent : {0.1, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto rank = static_cast<size_t>(
        std::ceil(static_cast<double>(samples.size()) * percent / 100));
    const auto exact = static_cast<double>(samples[rank - 1]);
    const auto reported = static_cast<double>(histogram.Percentile(percent));
    EXPECT_GE(reported, exact);
    EXPECT_LE(reported, exact * 1.01 + 1);
  }
  EXPECT_EQ(histogram.Percentile(100), samples.back());
  EXPECT_EQ(histogram.sum(), sum);
  EXPECT_EQ(histogram.count(), samples.size());
}

}  // namespace
}  // namespace kvmatrix
