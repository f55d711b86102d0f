#include "common/recording/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

#include "common/random/random.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kHourNs = 3'600'000'000'000;

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram(TickHistogram(), 1);
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min_ns(), 0u);
  EXPECT_EQ(histogram.max_ns(), 0u);
  EXPECT_TRUE(histogram.buckets().empty());
  EXPECT_EQ(histogram.At(5000), std::nullopt);
  EXPECT_EQ(histogram.ToString(), "Count: 0\n");
}

// To half a nanosecond, the error of rounding to whole ones.
TEST(Histogram, HoldsEveryValueWithinAHundredth) {
  for (const double ns_per_tick : {1.0, 0.5, 0.3125, 0.385109}) {
    Random random(1);
    for (uint64_t top = 1; static_cast<double>(top) * ns_per_tick < kHourNs;
         top *= 2) {
      for (int i = 0; i < 100; ++i) {
        // The smallest or the largest value of some bucket.
        const size_t bucket =
            TickHistogram::Buckets::Index(top + random.Uniform(top));
        const uint64_t ticks = i % 2 == 0
                                   ? TickHistogram::Buckets::Lower(bucket)
                                   : TickHistogram::Buckets::Upper(bucket);
        TickHistogram recorded;
        recorded.Add(0);
        recorded.Add(ticks);
        recorded.Add(2 * ticks);
        const Histogram histogram(recorded, ns_per_tick);
        ASSERT_EQ(histogram.count(), 3u);
        uint64_t count = 0;
        double error = 1e300;
        const double ns = static_cast<double>(ticks) * ns_per_tick;
        for (const Histogram::Bucket& bucket : histogram.buckets()) {
          count += bucket.count;
          error = std::min(error,
                           std::max(ns - static_cast<double>(bucket.lower_ns),
                                    static_cast<double>(bucket.upper_ns) - ns));
        }
        ASSERT_EQ(count, 3u);
        ASSERT_LE(error, 0.01 * ns + 0.5) << ticks << " * " << ns_per_tick;
        ASSERT_NEAR(static_cast<double>(histogram.max_ns()), 2 * ns, 0.5);
      }
    }
  }
}

TEST(Histogram, HoldsTheLongestTimeAndNoNegativeOne) {
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
  TickHistogram recorded;
  recorded.Add(kLongest);
  const Histogram longest(recorded, 1);
  ASSERT_EQ(longest.buckets().size(), 1u);
  EXPECT_EQ(longest.buckets()[0].upper_ns, kLongest);
  EXPECT_EQ(longest.max_ns(), kLongest);
  recorded.Add(uint64_t{0} - 5);
  EXPECT_EQ(Histogram(recorded, 1).min_ns(), 0u);
  EXPECT_EQ(Histogram(recorded, 1).sum_ns(), kLongest);
}

TEST(Histogram, BucketsAscendAndLieBetweenMinimumAndMaximum) {
  TickHistogram recorded;
  Random random(2);
  for (int i = 0; i < 10'000; ++i) {
    recorded.Add(random.Next() >> (1 + random.Uniform(63)));
  }
  const Histogram histogram(recorded, 0.45);
  const auto& buckets = histogram.buckets();
  EXPECT_LE(buckets.front().lower_ns, histogram.min_ns());
  EXPECT_LE(buckets.back().lower_ns, histogram.max_ns());
  uint64_t count = buckets[0].count;
  for (size_t i = 1; i < buckets.size(); ++i) {
    ASSERT_GT(buckets[i].lower_ns, buckets[i - 1].upper_ns);
    count += buckets[i].count;
  }
  EXPECT_EQ(count, 10'000u);
}

TEST(Histogram, PercentilesEqualSortingWithinAHundredth) {
  Random random(1);
  std::vector<uint64_t> samples(200'000);
  TickHistogram recorded;
  uint64_t sum = 0;
  for (uint64_t& sample : samples) {
    sample = uint64_t{1} << random.Uniform(30);
    sample += random.Uniform(sample);
    recorded.Add(sample);
    sum += sample;
  }
  std::ranges::sort(samples);
  const Histogram histogram(recorded, 1);
  for (const Percentile percentile : kPercentiles) {
    const size_t rank = (samples.size() * percentile + 9'999) / 10'000;
    const auto exact = static_cast<double>(samples[rank - 1]);
    const auto reported = static_cast<double>(*histogram.At(percentile));
    EXPECT_GE(reported, exact);
    EXPECT_LE(reported, exact * 1.01 + 1);
  }
  EXPECT_EQ(histogram.max_ns(), samples.back());
  EXPECT_EQ(histogram.min_ns(), samples.front());
  EXPECT_EQ(histogram.sum_ns(), sum);
  EXPECT_EQ(histogram.count(), samples.size());
}

TEST(Histogram, APercentileRestsOnTenSamplesAboveIt) {
  const auto has = [](uint64_t count, Percentile percentile) {
    TickHistogram recorded;
    for (uint64_t i = 0; i < count; ++i) recorded.Add(50);
    return Histogram(recorded, 1).At(percentile).has_value();
  };
  EXPECT_FALSE(has(19, 5000));
  EXPECT_TRUE(has(20, 5000));
  EXPECT_FALSE(has(999, 9900));
  EXPECT_TRUE(has(1'000, 9900));
  EXPECT_FALSE(has(99'999, 9999));
  EXPECT_TRUE(has(100'000, 9999));
}

TEST(Histogram, PrintsADashForAPercentileWithTooFewSamples) {
  TickHistogram recorded;
  for (int i = 0; i < 500; ++i) recorded.Add(100);
  recorded.Add(2'500);
  EXPECT_EQ(Histogram(recorded, 1).ToString(),
            "Count: 501  Average: 0.105  Min: 0.100  Max: 2.500\n"
            "Percentiles:  P50: 0.100  P90: 0.100  P99: -  P99.9: -"
            "  P99.99: -\n");
}

TEST(Histogram, PrintsWideBucketsWithTheirShares) {
  TickHistogram recorded;
  for (int i = 0; i < 3; ++i) recorded.Add(1'210);
  recorded.Add(1'390);
  for (int i = 0; i < 4; ++i) recorded.Add(7);
  EXPECT_EQ(
      Histogram(recorded, 1).BucketsText(),
      "[        0.000,        0.010 )          4  50.000%  50.000% ##########\n"
      "[        1.200,        1.400 )          4  50.000% 100.000% "
      "##########\n");
  EXPECT_EQ(Histogram(TickHistogram(), 1).BucketsText(), "");
}

// Each sample is in one bucket, and the buckets ascend without overlap.
TEST(Histogram, PrintsEverySampleOnce) {
  TickHistogram recorded;
  for (uint64_t ns = 1; ns < 1'000'000'000'000; ns += ns / 7 + 1) {
    recorded.Add(ns);
  }
  std::istringstream lines(Histogram(recorded, 1).BucketsText());
  uint64_t samples = 0;
  double last_end = 0, start = 0, end = 0;
  uint64_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    ASSERT_EQ(
        std::sscanf(line.c_str(), "[ %lf, %lf ) %lu", &start, &end, &count), 3)
        << line;
    EXPECT_GE(start, last_end);
    EXPECT_GT(end, start);
    last_end = end;
    samples += count;
  }
  EXPECT_EQ(samples, recorded.count());
}

}  // namespace
}  // namespace kvmatrix
