// YCSB's workloads on an engine: what is done, what is checked, and that the
// contents of the database afterwards can be derived without the engine.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/cli/rules.h"
#include "common/cli/text_output.h"
#include "common/mixes/mix_workload.h"
#include "common/mixes/ycsb.h"
#include "tests/mixes/ycsb_fixture.h"

namespace kvmatrix {
namespace {

TEST_F(YcsbRun, LoadsEveryRecordOnceInNoOrderOfKeys) {
  std::vector<std::string> keys;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    for (const Update& update : batch) keys.emplace_back(update.key);
    session.Write(batch);
  };
  const auto m = Run(Wrapped(behaviour), {"ycsbload", "verify"});
  EXPECT_EQ(m[1].run.loop.operations, 400u);
  EXPECT_EQ(m[1].status, Status::kOk) << m[1].reason;
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 400u);
  EXPECT_FALSE(std::ranges::is_sorted(keys));
}

TEST_F(YcsbRun, CountsWhatItDoes) {
  std::map<std::string, uint64_t> gets, puts, scans;
  std::string name;
  Behaviour behaviour;
  behaviour.get = [&](Session& session, std::string_view key) {
    ++gets[name];
    return session.Get(key);
  };
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    puts[name] += batch.size();
    session.Write(batch);
  };
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    ++scans[name];
    session.Scan(start, order, visit);
  };
  for (const std::string_view workload : kAll) {
    name = workload;
    const Measurement m = RunLoaded(Wrapped(behaviour), workload);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    auto types = m.run.loop.by_type;
    uint64_t sum = 0;
    for (const auto& [type, operations] : types) sum += operations;
    EXPECT_EQ(sum, config_.reads) << name;
    EXPECT_EQ(gets[name],
              types["read"] + types["update"] + types["readmodifywrite"]);
    EXPECT_EQ(puts[name] - config_.num,
              types["insert"] + types["update"] + types["readmodifywrite"]);
    EXPECT_EQ(scans[name], types["scan"]);
    EXPECT_EQ(m.run.operations_by_thread, std::vector<uint64_t>{config_.reads});
  }
}

TEST_F(YcsbRun, WritesAllFieldsWithoutAReadIfRequested) {
  uint64_t gets = 0;
  Behaviour behaviour;
  behaviour.get = [&](Session& session, std::string_view key) {
    ++gets;
    return session.Get(key);
  };
  config_.mix.writeallfields = true;
  Measurement m = RunLoaded(Wrapped(behaviour), "ycsba");
  EXPECT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_EQ(gets, m.run.loop.by_type["read"]);
  EXPECT_NE(StatLine(m).find("an update is a put"), std::string::npos);
}

TEST_F(YcsbRun, ReadsTheRecordsOfWhichAnUpdateChangesOneFieldOfSeveral) {
  uint64_t gets = 0;
  Behaviour behaviour;
  behaviour.get = [&](Session& session, std::string_view key) {
    ++gets;
    return session.Get(key);
  };
  const auto updates_get = [&](std::string_view name, uint64_t fields) {
    config_.mix.fieldcount = fields;
    gets = 0;
    Measurement m = RunLoaded(Wrapped(behaviour), name);
    EXPECT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_GT(m.run.loop.by_type["update"], 0u);
    return gets > m.run.loop.by_type["read"];
  };
  for (const std::string_view name : {"ycsba", "mix"}) {
    EXPECT_EQ(updates_get(name, 0), name == "ycsba");
    EXPECT_FALSE(updates_get(name, 1));
    EXPECT_TRUE(updates_get(name, 2));
    config_.mix.writeallfields = true;
    EXPECT_FALSE(updates_get(name, 2));
    config_.mix.writeallfields = false;
  }
}

TEST_F(YcsbRun, LoadsAndInsertsInTheOrderOfKeysIfRequested) {
  config_.mix.insert_order = "ordered";
  std::vector<std::string> keys;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    keys.emplace_back(batch.front().key);
    session.Write(batch);
  };
  const auto m =
      Run(Wrapped(behaviour), {"ycsbload", "ycsbd", "ycsbe", "verify"});
  for (const Measurement& one : m) {
    ASSERT_EQ(one.status, Status::kOk) << one.reason;
  }
  EXPECT_EQ(keys.size(), m.back().run.loop.operations);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(keys.front(), "0000000000000000");
  config_.mix.insert_order = "hashed";
  EXPECT_EQ(RunAfter(Wrapped({}), {ParseAfterWord("ycsbload")}, "ycsba").status,
            Status::kWrong);
}

TEST_F(YcsbRun, ScansOneToAHundredEntries) {
  std::map<uint64_t, uint64_t> lengths;
  Behaviour behaviour;
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    uint64_t visited = 0;
    bool stopped = false;
    session.Scan(start, order, [&](auto key, auto value) {
      ++visited;
      stopped = !visit(key, value);
      return !stopped;
    });
    if (stopped) ++lengths[visited];  // others met the last entry
  };
  config_.num = 5'000;
  const Measurement m = RunLoaded(Wrapped(behaviour), "ycsbe");
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_EQ(lengths.begin()->first, 1u);
  EXPECT_EQ(lengths.rbegin()->first, 100u);
  EXPECT_GE(lengths.size(), 100u);
}

TEST_F(YcsbRun, LeavesTheEntriesOfItsReplay) {
  for (const std::string_view name : kAll) {
    const Measurement m = RunLoaded(Wrapped({}), name);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    const Measurement audit =
        RunAfter(Wrapped({}),
                 {ParseAfterWord("ycsbload"), ParseAfterWord(name)}, "verify");
    EXPECT_EQ(audit.status, Status::kOk) << name << ": " << audit.reason;
    AppliedBenchmark less = ParseAfterWord(name);
    less.operations[0] /= 2;
    const Measurement wrong =
        RunAfter(Wrapped({}), {ParseAfterWord("ycsbload"), less}, "verify");
    EXPECT_EQ(wrong.status == Status::kOk, name == "ycsbc") << name;
  }
}

TEST_F(YcsbRun, EndsEarlyWithTheEntriesOfItsReplay) {
  config_.duration_ns = 40'000;
  for (const std::string_view name : kAll) {
    Behaviour behaviour;
    behaviour.get = [this](Session& session, std::string_view key) {
      clock_.now_ns += 100;
      return session.Get(key);
    };
    behaviour.scan = [this](Session& session, std::string_view start,
                            Order order, const Visitor& visit) {
      clock_.now_ns += 100;
      session.Scan(start, order, visit);
    };
    const Measurement m = RunLoaded(Wrapped(behaviour), name);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_TRUE(m.run.trace.truncated);
    EXPECT_LT(m.run.loop.operations, config_.reads);
    const Measurement audit =
        RunAfter(Wrapped({}),
                 {ParseAfterWord("ycsbload"),
                  {FindBenchmark(name), m.run.operations_by_thread}},
                 "verify");
    EXPECT_EQ(audit.status, Status::kOk) << name << ": " << audit.reason;
  }
}

TEST_F(YcsbRun, InsertsGoOnWhereAnEarlierWorkloadStopped) {
  const auto m =
      Run(Wrapped({}), {"ycsbload", "ycsbd", "ycsbe", "ycsbd", "verify"});
  for (const Measurement& one : m) {
    EXPECT_EQ(one.status, Status::kOk) << one.reason;
  }
  uint64_t inserts = 0;
  for (Measurement one : m) inserts += one.run.loop.by_type["insert"];
  EXPECT_EQ(m.back().run.loop.operations, config_.num + inserts);
}

TEST_F(YcsbRun, NeedsItsOwnLoad) {
  const Measurement m = Run(Wrapped({}), {"filluniquerandom", "ycsba"}).back();
  EXPECT_EQ(m.status, Status::kError);
  EXPECT_NE(m.reason.find("ycsbload"), std::string::npos) << m.reason;
}

TEST_F(YcsbRun, TimesEachTypeSeparately) {
  Behaviour behaviour;
  behaviour.get = [this](Session& session, std::string_view key) {
    clock_.now_ns += 1'000;
    return session.Get(key);
  };
  behaviour.write = [this](Session& session, std::span<const Update> batch) {
    clock_.now_ns += 10'000;
    session.Write(batch);
  };
  config_.histogram = true;
  config_.mix.writeallfields = true;
  const Measurement m = RunLoaded(Wrapped(behaviour), "ycsba");
  ASSERT_EQ(m.run.latency_by_type.size(), 2u);
  const Histogram& reads = m.run.latency_by_type.at("read");
  const Histogram& updates = m.run.latency_by_type.at("update");
  EXPECT_EQ(reads.count() + updates.count(), m.run.trace.latency->count());
  EXPECT_EQ(reads.count(), m.run.loop.by_type.at("read"));
  EXPECT_GE(reads.min_ns(), 1'000u);
  EXPECT_LT(reads.max_ns(), 10'000u);
  EXPECT_GE(updates.min_ns(), 10'000u);
}

TEST_F(YcsbRun, ReportsItsDistribution) {
  const Measurement m = RunLoaded(Wrapped({}), "ycsbc");
  EXPECT_NE(StatLine(m).find("(3000 read) (YCSB-exact zipfian"),
            std::string::npos)
      << StatLine(m);
  config_.key_distribution = "zipf";
  config_.value_size = 100;
  const Measurement other = RunLoaded(Wrapped({}), "ycsbc");
  EXPECT_NE(StatLine(other).find("(true Zipf; YCSB's records have 1000 bytes)"),
            std::string::npos)
      << StatLine(other);
  EXPECT_NE(m.digest, other.digest);
}

// Four standard deviations of a share over that many draws.
double Tolerance(double share, double draws) {
  return 4 * std::sqrt(share * (1 - share) / draws);
}

TEST_F(YcsbRun, DrawsWhatTheoryPredicts) {
  config_.num = 10'000;
  config_.reads = 40'000;
  config_.value_size = 1;
  for (const std::string_view distribution :
       {"", "zipf", "uniform", "latest"}) {
    config_.key_distribution = distribution;
    for (const std::string_view name : kAll) {
      const Measurement m = RunLoaded(Wrapped({}), name);
      ASSERT_EQ(m.status, Status::kOk) << m.reason;
      ASSERT_GE(m.shares.size(), 2u);
      for (const Share& share : m.shares) {
        // A length has a standard deviation of 28.9 entries.
        const double error = share.what.ends_with("entries")
                                 ? 4 * 28.9 / std::sqrt(38'000)
                                 : Tolerance(share.expected, 38'000);
        EXPECT_NEAR(share.observed, share.expected, error + 1e-9)
            << name << " " << distribution << ": " << share.what;
      }
    }
  }
}

// What the rule of a run (report/trust) accepts of a share.
void ExpectByChance(const Measurement& m, const Share& share, double draws) {
  if (share.what.ends_with("entries") || share.what.ends_with("bytes")) return;
  const double error = std::sqrt(share.expected * (1 - share.expected) / draws);
  EXPECT_LE(std::abs(share.observed - share.expected), 5 * (error + 1 / draws))
      << m.benchmark->name << ": " << share.what << ": " << share.observed
      << ", " << share.expected << " in theory, of " << draws;
}

// From a tenth of an operation for each record to ten thousand, while D and E
// make the database up to five hundred times as large.
TEST_F(YcsbRun, DrawsWhatTheoryPredictsHoweverMuchTheDatabaseGrows) {
  struct Case {
    uint64_t records, reads;
    std::vector<std::string_view> names, laws;
  };
  const std::vector<Case> cases = {
      {20'000, 2'000, {"ycsba", "ycsbd", "ycsbe"}, {"", "zipf"}},
      {1'000,
       10'000,
       {"ycsbe", "ycsbf"},
       {"", "zipf", "exponential", "hotspot", "uniform"}},
      {1'000, 50'000, {"ycsbd"}, {"", "zipf", "exponential"}},
      {20, 200'000, {"ycsbd", "ycsbc"}, {""}}};
  config_.value_size = 1;
  for (const Case& one : cases) {
    config_.num = one.records;
    for (const uint64_t threads : {1, 4}) {
      config_.threads = threads;
      config_.reads = one.reads / threads;
      for (const std::string_view name : one.names) {
        for (const std::string_view law : one.laws) {
          config_.key_distribution = law;
          const Measurement m = RunLoaded(Wrapped({}), name);
          ASSERT_EQ(m.status, Status::kOk) << m.reason;
          SCOPED_TRACE(std::to_string(one.records) + " " + std::string(law));
          for (const Share& share : m.shares) {
            ExpectByChance(m, share, static_cast<double>(config_.reads));
          }
        }
      }
    }
  }
}

// The share of the newest ten records that a simulation of YCSB's own generator
// gives: 0.2849.
TEST_F(YcsbRun, ExpectsOfDWhatYcsbDraws) {
  config_.num = 1'000;
  config_.reads = 50'000;
  config_.value_size = 1;
  const Share share = RunLoaded(Wrapped({}), "ycsbd").shares[2];
  EXPECT_EQ(share.what, "newest 1 % of records");
  EXPECT_NEAR(share.expected, 0.285, 0.005);
  EXPECT_NEAR(share.observed, share.expected, 0.007);
}

// The reserve of a run that only time ends is no longer than the records, and
// nothing is recorded of what it may insert.
TEST_F(YcsbRun, EndsByTimeWhateverTheOperations) {
  config_.duration_ns = 40'000;
  config_.reads = kMaxKeys;
  config_.value_size = 1;
  Behaviour behaviour;
  behaviour.write = [this](Session& session, std::span<const Update> batch) {
    clock_.now_ns += 100;
    session.Write(batch);
  };
  for (const std::string_view name : {"ycsbd", "ycsbe", "mix"}) {
    config_.mix.shares = ParseShares("read:50,insert:50");
    const Measurement m = RunLoaded(Wrapped(behaviour), name);
    EXPECT_EQ(m.status, Status::kOk) << name << ": " << m.reason;
    EXPECT_TRUE(m.run.trace.truncated);
  }
}

TEST_F(YcsbRun, ReportsTheHottestKeysOfEachZipf) {
  config_.num = 100'000;
  config_.reads = 100;
  config_.value_size = 1;
  const auto hottest = [&](std::string_view distribution) {
    config_.key_distribution = distribution;
    const Measurement m = RunLoaded(Wrapped({}), "ycsbc");
    EXPECT_EQ(m.shares[1].what, "hottest 1 % of keys");
    return m.shares[1].expected;
  };
  EXPECT_NEAR(hottest("zipf"), 0.605, 0.001);
  EXPECT_NEAR(hottest(""), 0.304, 0.002);
}

TEST_F(YcsbRun, RefusesFlagsThatContradictIt) {
  config_.key_distribution = "hot";
  EXPECT_THROW(CheckBenchmark(*FindBenchmark("ycsba"), config_), UsageError);
  config_.key_distribution = "";
  config_.num = 2;
  EXPECT_THROW(CheckBenchmark(*FindBenchmark("ycsbload"), config_), UsageError);
  config_.num = 60'000'000;
  config_.key_size = 8;
  EXPECT_THROW(CheckBenchmark(*FindBenchmark("ycsbload"), config_), UsageError);
}

}  // namespace
}  // namespace kvmatrix
