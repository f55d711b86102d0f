// Keys, values and arrivals come from independent streams.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "common/stream/key_stream.h"
#include "common/stream/values.h"
#include "common/timing/open_loop.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr size_t kSamples = 100'000;
constexpr uint64_t kKeys = 1'000'003;

using Series = std::vector<double>;

// Pearson's coefficient.
double Correlation(const Series& a, const Series& b) {
  const auto mean = [](const Series& series) {
    double sum = 0;
    for (const double value : series) sum += value;
    return sum / static_cast<double>(series.size());
  };
  const double mean_a = mean(a), mean_b = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

Series KeysOf(uint64_t stream_seed, KeyOrder order) {
  KeyStream keys(order, kKeys, stream_seed);
  Series series(kSamples);
  for (double& value : series) value = static_cast<double>(keys.Next());
  return series;
}

Series GapsOf(uint64_t stream_seed) {
  Arrivals arrivals(stream_seed);
  Series series(kSamples);
  for (double& value : series) value = arrivals.NextGap();
  return series;
}

// The first bytes of the values of the drawn keys.
Series ValuesOf(uint64_t seed, uint64_t stream_seed, KeyOrder order) {
  const Values values(seed, 100, 0.5);
  KeyStream keys(order, kKeys, stream_seed);
  std::vector<char> buffer(values.buffer_size());
  Series series(kSamples);
  for (double& value : series) {
    values.Write(keys.Next(), 1, buffer.data());
    value = static_cast<unsigned char>(buffer[0]) * 256.0 +
            static_cast<unsigned char>(buffer[1]);
  }
  return series;
}

// All streams of two benchmarks, two occurrences and two seeds.
std::vector<std::pair<std::string, Series>> AllStreams() {
  std::vector<std::pair<std::string, Series>> all;
  for (const uint64_t seed : {301u, 302u}) {
    for (const char* name : {"fillrandom", "readrandom"}) {
      for (const uint64_t occurrence : {0u, 1u}) {
        const uint64_t stream_seed = StreamSeed(seed, name, occurrence);
        const std::string of = std::string(name) + " " +
                               std::to_string(occurrence) + " of " +
                               std::to_string(seed);
        all.emplace_back("keys, " + of,
                         KeysOf(stream_seed, KeyOrder::kUniform));
        all.emplace_back("order, " + of,
                         KeysOf(stream_seed, KeyOrder::kUnique));
        all.emplace_back("gaps, " + of, GapsOf(stream_seed));
        all.emplace_back("values, " + of,
                         ValuesOf(seed, stream_seed, KeyOrder::kUniform));
      }
    }
  }
  return all;
}

TEST(Streams, AreUncorrelated) {
  const auto all = AllStreams();
  const double limit = 5 / std::sqrt(1.0 * kSamples);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(Correlation(all[i].second, all[i].second), 1, 1e-9);
    for (size_t j = 0; j < i; ++j) {
      const double found = Correlation(all[i].second, all[j].second);
      EXPECT_LT(std::abs(found), limit)
          << all[i].first << " and " << all[j].first;
    }
  }
}

TEST(Streams, DoNotRepeatEachOtherAStepLater) {
  const auto all = AllStreams();
  const double limit = 5 / std::sqrt(1.0 * kSamples);
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      Series ahead(all[i].second.begin() + 1, all[i].second.end());
      Series behind(all[j].second.begin(), all[j].second.end() - 1);
      EXPECT_LT(std::abs(Correlation(ahead, behind)), limit)
          << all[i].first << " behind " << all[j].first;
    }
  }
}

// Tests the loop itself, not the streams that it should use.
TEST_F(RunnerFixture, ArrivalTimesAreIndependentOfTheKeys) {
  config_.num = config_.reads = 20'000;
  config_.rate_ops_per_sec = 1'000;
  Series keys, gaps;
  uint64_t before_ns = 0;
  Behaviour behaviour;
  behaviour.get = [&](Session& session, std::string_view key) {
    keys.push_back(std::stod(std::string(key)));
    gaps.push_back(static_cast<double>(clock_.now_ns - before_ns));
    before_ns = clock_.now_ns;
    return session.Get(key);
  };
  Run(Wrapped(behaviour), {"fillseq", "readrandom"});
  ASSERT_EQ(keys.size(), 20'000u);
  gaps[0] = gaps[1];  // no call came before it
  EXPECT_LT(std::abs(Correlation(keys, gaps)), 5 / std::sqrt(20'000.0));
}

TEST(Streams, HaveTheirOwnSeeds) {
  std::set<uint64_t> seeds;
  size_t count = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    for (const Benchmark& benchmark : AllBenchmarks()) {
      for (uint64_t occurrence = 0; occurrence < 5; ++occurrence) {
        const uint64_t stream = StreamSeed(seed, benchmark.name, occurrence);
        seeds.insert({stream, StreamSeed(stream, "arrivals", 0)});
        count += 2;
      }
    }
    seeds.insert(
        {StreamSeed(seed, "values", 0), StreamSeed(seed, "values", 1)});
    count += 2;
  }
  EXPECT_EQ(seeds.size(), count);
}

}  // namespace
}  // namespace kvmatrix
