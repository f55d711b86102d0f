// Keys, values and batches of every shape through the real runner.

#include <cstdlib>
#include <map>
#include <numeric>

#include "common/stream/from_config.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

using ShapesRun = RunnerFixture;

const std::vector<std::string_view> kAll = {
    "fillrandom",   "overwrite",    "readrandom",  "getseq", "readmissing",
    "deleterandom", "fillseqbatch", "fillseq100K", "verify"};

void ExpectRight(const std::vector<Measurement>& measurements) {
  for (const Measurement& m : measurements) {
    EXPECT_EQ(m.status, Status::kOk) << m.benchmark->name << ": " << m.reason;
  }
}

TEST_F(ShapesRun, KeysOfEveryShapeAreRight) {
  for (const KeyFormat format :
       {KeyFormat::kDecimal, KeyFormat::kBig, KeyFormat::kLittle}) {
    for (const uint64_t size : {8u, 13u, 40u}) {
      config_.key_format = format;
      config_.key_size = size;
      ExpectRight(Run(Wrapped({}), kAll));
    }
  }
}

TEST_F(ShapesRun, KeysOfEveryDistributionAreRight) {
  for (const char* name : {"uniform", "permutation", "zipf", "ycsb-zipf", "hot",
                           "latest", "sequential"}) {
    config_.key_distribution = name;
    ExpectRight(Run(Wrapped({}), kAll));
  }
}

TEST_F(ShapesRun, ValuesOfEverySizeAreRightAndCounted) {
  for (const SizeLaw law :
       {SizeLaw::kUniform, SizeLaw::kNormal, SizeLaw::kPareto}) {
    config_.value_size_law = law;
    ExpectRight(Run(Wrapped({}), kAll));
    const auto m = Run(Wrapped({}), {"filluniquerandom", "getseq", "readseq"});
    ExpectRight(m);
    const Values values(config_.seed, SizesOf(config_, 100), 0.5);
    uint64_t bytes = 0;
    for (uint64_t key = 0; key < config_.num; ++key) {
      bytes += 16 + values.SizeOf(values.Root(key, 1));
    }
    for (const Measurement& measurement : m) {
      EXPECT_EQ(measurement.run.loop.bytes, bytes)
          << measurement.benchmark->name;
      EXPECT_EQ(measurement.live_bytes, bytes) << measurement.benchmark->name;
    }
  }
}

// The value of another key most likely has another size.
TEST_F(ShapesRun, AValueOfAnotherSizeIsWrong) {
  config_.value_size_law = SizeLaw::kUniform;
  Behaviour behaviour;
  behaviour.get = [](Session& session, std::string_view key) {
    auto value = session.Get(key);
    if (value && !value->empty()) value->remove_suffix(1);
    return value;
  };
  const auto m = Run(Wrapped(behaviour), {"filluniquerandom", "getseq"});
  EXPECT_EQ(m[1].status, Status::kWrong);
  EXPECT_NE(m[1].reason.find("bytes instead of"), std::string::npos);
}

TEST_F(ShapesRun, CompressionRatiosFromNoneToAllAreRight) {
  for (const double ratio : {0.0, 0.37, 1.0}) {
    config_.compression_ratio = ratio;
    ExpectRight(Run(Wrapped({}), {"fillrandom", "readrandom", "verify"}));
  }
}

TEST_F(ShapesRun, WritesTheRequestedNumberOfTransactions) {
  config_.transactions = 10;
  std::vector<size_t> batches;
  Behaviour behaviour;
  behaviour.write = [&batches](Session& session,
                               std::span<const Update> batch) {
    batches.push_back(batch.size());
    session.Write(batch);
  };
  ExpectRight(Run(Wrapped(behaviour), {"fillrandom"}));
  EXPECT_EQ(batches, std::vector<size_t>(10, config_.num / 10));
  batches.clear();
  config_.num = 1003;
  ExpectRight(Run(Wrapped(behaviour), {"fillseq"}));
  EXPECT_EQ(batches.size(), 11u);
  EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), size_t{0}), 1003u);
  batches.clear();
  config_.num = 7;
  ExpectRight(Run(Wrapped(behaviour), {"fillseq"}));
  EXPECT_EQ(batches, std::vector<size_t>(7, 1));
}

TEST_F(ShapesRun, SharesAreReportedWithThoseOfTheory) {
  config_.num = 20'000;
  config_.reads = 20'000;
  config_.key_distribution = "zipf";
  const auto m = Run(Wrapped({}), {"filluniquerandom", "readrandom", "getseq"});
  EXPECT_TRUE(m[0].shares.empty());
  ASSERT_EQ(m[1].shares.size(), 4u);
  EXPECT_EQ(m[1].shares[0].what, "hottest key");
  for (const Share& share : m[1].shares) {
    EXPECT_NEAR(share.observed, share.expected, 0.02) << share.what;
  }
  EXPECT_TRUE(m[2].shares.empty());
}

}  // namespace
}  // namespace kvmatrix
