// mixgraph and mixgraph-c on an engine: what is checked, and that the contents
// of the database afterwards can be derived without the engine.

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "common/cli/rules.h"
#include "common/mixes/mix_workload.h"
#include "common/mixes/mixgraph.h"
#include "tests/mixes/mixgraph_fixture.h"

namespace kvmatrix {
namespace {

TEST_F(MixgraphRun, PutsValuesOfTheModelsSizes) {
  config_.num = 30'000;
  config_.reads = 20'000;
  for (const std::string_view name : kBoth) {
    std::set<size_t> sizes;
    double bytes = 0;
    uint64_t written = 0;
    Behaviour behaviour;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      session.Write(batch);
      if (++written <= config_.num) return;
      sizes.insert(batch.front().value->size());
      bytes += static_cast<double>(batch.front().value->size());
    };
    const Measurement m = RunFilled(Wrapped(behaviour), name);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    const auto puts = static_cast<double>(m.run.loop.by_type.at("put"));
    EXPECT_EQ(written, config_.num + m.run.loop.by_type.at("put"));
    EXPECT_GT(sizes.size(), 40u) << name;
    EXPECT_EQ(*sizes.begin(), 10u);
    EXPECT_LE(*sizes.rbegin(), 1'024u);
    // A number that selects a put is never among the first 830, which would
    // have the largest values.
    const double mean =
        name == "mixgraph"
            ? MixgraphStream(config_.mix.mixgraph, config_.num, 1)
                  .ComputeMeans()
                  .value_size
            : 36.5;
    EXPECT_NEAR(bytes / puts, mean, 2) << name;
  }
}

TEST_F(MixgraphRun, LeavesTheEntriesOfItsReplay) {
  for (const std::string_view name : kBoth) {
    Choose(name);
    for (const Measurement& m :
         Run(Wrapped({}), {"filluniquerandom", name, "overwrite", name,
                           "verify", "readrandom", "readseq"})) {
      EXPECT_EQ(m.status, Status::kOk) << m.benchmark->name << m.reason;
    }
    const std::vector<AppliedBenchmark> past = {
        ParseAfterWord("filluniquerandom"), ParseAfterWord(name),
        ParseAfterWord("overwrite"), ParseAfterWord(name)};
    const Measurement audit = RunAfter(Wrapped({}), past, "verify");
    EXPECT_EQ(audit.status, Status::kOk) << audit.reason;
    const Measurement wrong =
        RunAfter(Wrapped({}), {past.begin(), past.end() - 1}, "verify");
    EXPECT_EQ(wrong.status, Status::kWrong);
  }
}

TEST_F(MixgraphRun, CountsBytesOfTheStoredSizes) {
  Choose("mixgraph");
  uint64_t bytes = 0;
  Behaviour behaviour;
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    bytes = 0;
    session.Scan(start, order, [&](auto key, auto value) {
      bytes += key.size() + value.size();
      return visit(key, value);
    });
  };
  const auto m =
      Run(Wrapped(behaviour), {"filluniquerandom", "mixgraph", "readseq"});
  EXPECT_EQ(m[1].live_bytes, bytes);
  EXPECT_EQ(m[2].run.loop.bytes, bytes);
}

TEST_F(MixgraphRun, KeepsThePaceOfASine) {
  config_.mix.mixgraph.sine_mix_rate = true;
  config_.reads = 9'000;
  const Measurement m = RunFilled(Wrapped({}), "mixgraph");
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  ASSERT_TRUE(m.run.trace.open_loop);
  EXPECT_EQ(m.run.trace.open_loop->rate_ops_per_sec, 4'500);
  EXPECT_NEAR(m.run.trace.open_loop->offered_ops_per_sec, 4'500,
              4 * 4'500 / 95);
}

// The bytes are right, but the length is that of another put.
TEST_F(MixgraphRun, DetectsAValueOfAnotherSize) {
  for (const std::string_view name : kBoth) {
    uint64_t written = 0;
    Behaviour behaviour;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      Update update = batch.front();
      if (++written > 2'000) update.value->remove_suffix(1);
      session.Write({&update, 1});
    };
    const Measurement m = RunFilled(Wrapped(behaviour), name);
    EXPECT_EQ(m.status, Status::kWrong) << name;
    EXPECT_NE(m.reason.find("bytes instead of"), std::string::npos) << m.reason;
  }
}

TEST_F(MixgraphRun, DetectsALostPut) {
  for (const std::string_view name : kBoth) {
    uint64_t written = 0;
    Behaviour behaviour;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      if (++written <= 2'000) session.Write(batch);
    };
    EXPECT_EQ(RunFilled(Wrapped(behaviour), name).status, Status::kWrong);
  }
}

TEST_F(MixgraphRun, DrawsWhatTheModelPredicts) {
  config_.num = 30'000;
  config_.reads = 60'000;
  for (const std::string_view name : kBoth) {
    const Measurement m = RunFilled(Wrapped({}), name);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    ASSERT_GE(m.shares.size(), 5u);
    for (const Share& share : m.shares) {
      // The standard deviation of an amount depends on this many draws.
      const bool amount =
          share.what.ends_with("entries") || share.what.ends_with("bytes");
      const double error =
          amount
              ? share.expected * 0.1
              : 4 * std::sqrt(share.expected * (1 - share.expected) / 60'000);
      EXPECT_NEAR(share.observed, share.expected, error)
          << name << ": " << share.what;
    }
  }
}

// The published model makes a key space of few keys unlike itself: what is
// expected is what it draws there.
TEST_F(MixgraphRun, DrawsWhatItsNumbersPredictHoweverFewThereAre) {
  config_.value_size = 1;
  config_.reads = 100'000;
  for (const uint64_t keys : {30, 1'000, 1'499}) {
    config_.num = keys;
    for (const std::string_view name : kBoth) {
      Choose(name);
      const Measurement m = RunFilled(Wrapped({}), name);
      ASSERT_EQ(m.status, Status::kOk) << m.reason;
      for (const Share& share : m.shares) {
        if (!share.what.ends_with("operations") &&
            !share.what.ends_with("range")) {
          continue;
        }
        const double error =
            std::sqrt(share.expected * (1 - share.expected) / 100'000);
        EXPECT_NEAR(share.observed, share.expected, 5 * error + 1e-9)
            << name << " " << keys << ": " << share.what;
      }
    }
  }
}

// The sample of the numbers of a large key space is one of all of them.
TEST(MixgraphStream, KnowsItsMeansForAnyNumberOfKeys) {
  const MixgraphParameters p;
  const double expected =
      MixgraphStream(p, 20'000'000, 1).ComputeMeans().value_size;
  for (const uint64_t keys : {2'000'000, 3'000'001, 3'999'999}) {
    EXPECT_NEAR(MixgraphStream(p, keys, 1).ComputeMeans().value_size, expected,
                0.5)
        << keys;
  }
}

TEST_F(MixgraphRun, RefusesFlagsThatContradictIt) {
  const Benchmark& mixgraph = *FindBenchmark("mixgraph");
  const Benchmark& corrected = *FindBenchmark("mixgraph-c");
  Choose("mixgraph");
  EXPECT_NO_THROW(CheckBenchmark(mixgraph, config_));
  EXPECT_THROW(CheckBenchmark(corrected, config_), UsageError);
  Choose("mixgraph-c");
  EXPECT_NO_THROW(CheckBenchmark(corrected, config_));
  config_.threads = 2;
  EXPECT_NO_THROW(CheckBenchmark(corrected, config_));
  EXPECT_THROW(CheckBenchmark(mixgraph, config_), UsageError);
  config_.threads = 1;
  config_.key_distribution = "zipf";
  EXPECT_THROW(CheckBenchmark(mixgraph, config_), UsageError);
  config_.key_distribution = "";
  config_.num = 29;
  EXPECT_THROW(CheckBenchmark(mixgraph, config_), UsageError);
}

}  // namespace
}  // namespace kvmatrix
