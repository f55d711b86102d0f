// mix: the shares that a user states, and a run of them.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mixes/ycsb_fixture.h"

namespace kvmatrix {
namespace {

constexpr char kEveryType[] =
    "read:32,missing:5,scan:5,scanreverse:5,update:15,readmodifywrite:5,"
    "insert:3,delete:30";

class MixRun : public YcsbRun {
 protected:
  MixRun() { Choose(kEveryType); }

  void Choose(std::string_view shares) {
    config_.mix.shares = ParseShares(shares);
    config_.mix.scan_length = 7;
  }

  std::vector<Measurement> RunMix(const Behaviour& behaviour) {
    return Run(Wrapped(behaviour), {"ycsbload", "mix", "verify"});
  }

  // Expects one thread, and three, to find a fault that matters to `shares`.
  void ExpectWrong(const Behaviour& behaviour, std::string_view shares) {
    Choose(shares);
    for (const uint64_t threads : {1, 3}) {
      config_.threads = threads;
      EXPECT_EQ(RunMix(behaviour)[1].status, Status::kWrong)
          << shares << ", threads: " << threads;
    }
  }
};

std::string Refusal(std::string_view shares) {
  try {
    ParseShares(shares);
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "";
}

TEST(Shares, AreReadAndWritten) {
  EXPECT_EQ(SharesText(ParseShares("update:5,read:95")),
            "95 % read, 5 % update");
  EXPECT_EQ(SharesText(ParseShares("scan:12.5,read:87.5")),
            "87.5 % read, 12.5 % scan");
  EXPECT_EQ(Refusal(kEveryType), "");
}

TEST(Shares, AreRefusedWithTheReason) {
  const auto has = [](std::string_view shares, std::string_view what) {
    EXPECT_NE(Refusal(shares).find(what), std::string::npos) << shares;
  };
  has("", "add up to 0 %");
  has("read:95", "add up to 95 %");
  has("read:95,update:6", "add up to 101 %");
  has("reed:100", "unknown operation 'reed'");
  has("seek:100", "unknown operation 'seek'");
  has("read:50,read:50", "'read' occurs twice");
  for (const char* form : {"read", "read:50,", ","}) {
    has(form, "is not of the form NAME:PERCENT");
  }
  for (const char* number :
       {"", "x", "-1", "0", "101", "nan", "inf", "5%", "1e-400"}) {
    has(std::string("read:") + number, "is no percentage");
  }
}

TEST_F(MixRun, HasOperationsInTheStatedShares) {
  const auto m = RunMix({});
  for (const Measurement& one : m) {
    ASSERT_EQ(one.status, Status::kOk) << one.reason;
  }
  const auto& by_type = m[1].run.loop.by_type;
  for (const Operation type : kMixTypes) {
    const std::string name(OperationName(type));
    const double share = config_.mix.shares[static_cast<size_t>(type)];
    ASSERT_TRUE(by_type.contains(name)) << name;
    EXPECT_NEAR(static_cast<double>(by_type.at(name)), share * 3'000, 150)
        << name;
  }
  EXPECT_EQ(m[1].run.loop.label.substr(0, 8), "32 % rea");
}

TEST_F(MixRun, OfThreadsLeavesTheEntriesOfItsReplay) {
  for (const uint64_t threads : {1, 4}) {
    config_.threads = threads;
    const auto m = Run(Wrapped({}), {"ycsbload", "mix", "mix", "verify"});
    for (const Measurement& one : m) {
      ASSERT_EQ(one.status, Status::kOk) << one.reason;
    }
    const auto past = [&](const Measurement& one) {
      return AppliedBenchmark{one.benchmark, one.run.operations_by_thread};
    };
    const std::vector all = {past(m[0]), past(m[1]), past(m[2])};
    const Measurement audit = RunAfter(Wrapped({}), all, "verify");
    EXPECT_EQ(audit.status, Status::kOk) << audit.reason;
    std::vector less = all;
    less.back().operations.back() /= 2;
    EXPECT_EQ(RunAfter(Wrapped({}), less, "verify").status, Status::kWrong);
  }
}

// A mix may insert twenty, or a hundred times what was loaded, and leaves what
// its replay says.
TEST_F(MixRun, GrowsADatabaseToAnySize) {
  config_.num = 100;
  for (const char* shares : {"insert:100", "read:50,insert:50",
                             "read:20,scan:10,update:10,delete:20,insert:40"}) {
    for (const char* law : {"", "ycsb-zipf", "latest", "exponential"}) {
      for (const uint64_t threads : {1, 4}) {
        Choose(shares);
        config_.key_distribution = law;
        config_.threads = threads;
        config_.reads = 4'000 / threads;
        const auto m = RunMix({});
        for (const Measurement& one : m) {
          ASSERT_EQ(one.status, Status::kOk) << law << ": " << one.reason;
        }
        const uint64_t inserts = m[1].run.loop.by_type.at("insert");
        EXPECT_GT(inserts, 1'400u);
        const AppliedBenchmark load = {m[0].benchmark,
                                       m[0].run.operations_by_thread};
        const AppliedBenchmark mix = {m[1].benchmark,
                                      m[1].run.operations_by_thread};
        const Measurement audit = RunAfter(Wrapped({}), {load, mix}, "verify");
        EXPECT_EQ(audit.status, Status::kOk) << audit.reason;
        config_.use_existing_db = false;
        config_.after.clear();
      }
    }
  }
}

// The definition of YCSB's D and E, said with --mix_shares: the same laws, over
// the records that are inserted too.
TEST_F(MixRun, DrawsInsertedRecordsAsYcsbDoes) {
  config_.num = 1'000;
  config_.reads = 50'000;
  config_.value_size = 1;
  const auto share_of = [&](std::string_view name) {
    const Measurement m = Run(Wrapped({}), {"ycsbload", name}).back();
    EXPECT_EQ(m.status, Status::kOk) << m.reason;
    return m.shares[2];
  };
  Choose("read:95,insert:5");
  config_.key_distribution = "ycsb-latest";
  EXPECT_NEAR(share_of("mix").expected, share_of("ycsbd").expected, 0.002);
  Choose("scan:95,insert:5");
  config_.key_distribution = "ycsb-zipf";
  EXPECT_NEAR(share_of("mix").expected, share_of("ycsbe").expected, 0.002);
}

TEST_F(MixRun, DrawsWhatTheoryPredicts) {
  config_.value_size = 1;
  const auto expect = [&](uint64_t records, const char* shares,
                          std::string_view law, uint64_t threads) {
    config_.num = records;
    Choose(shares);
    config_.key_distribution = law;
    config_.threads = threads;
    config_.reads = 40'000 / threads;
    const Measurement m = RunMix({})[1];
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_GT(m.shares.size(), ParseShares(shares)[0] < 1 ? 2u : 1u) << law;
    for (const Share& share : m.shares) {
      ASSERT_GT(share.draws, 0u);
      const auto draws = static_cast<double>(share.draws);
      const double error =
          std::sqrt(share.expected * (1 - share.expected) / draws);
      EXPECT_LE(std::abs(share.observed - share.expected),
                5 * error + 5 / draws + 0.002)
          << law << " " << records << ": " << share.what;
    }
  };
  for (const char* law : {"ycsb-zipf", "zipf", "ycsb-latest", "latest",
                          "exponential", "hotspot", "hot"}) {
    expect(1'000, "read:100", law, 1);
    expect(20'000, "read:60,update:40", law, 4);
  }
  for (const char* law :
       {"ycsb-zipf", "zipf", "ycsb-latest", "latest", "exponential"}) {
    expect(20, "read:50,insert:50", law, 1);
    expect(1'000, "read:1,insert:99", law, 1);
    expect(1'000, "read:90,insert:10", law, 4);
  }
}

TEST_F(MixRun, ScansHaveTheLengthsThatAreRequested) {
  config_.num = 5'000;
  Choose("scan:100");
  config_.mix.min_scan_length = 3;
  config_.mix.max_scan_length = 40;
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
    if (stopped && !start.empty()) ++lengths[visited];
  };
  for (const char* law : {"uniform", "zipf"}) {
    config_.mix.scan_length_distribution = law;
    lengths.clear();
    const Measurement m = Run(Wrapped(behaviour), {"ycsbload", "mix"}).back();
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_EQ(lengths.begin()->first, 3u);
    EXPECT_LE(lengths.rbegin()->first, 40u);
    EXPECT_GT(lengths.size(), 35u);
    const double shortest = static_cast<double>(lengths[3]) / 3'000;
    // 1 / 38, and 1 / the sum of 1 / r^0.99 for r = 1 to 38.
    EXPECT_NEAR(shortest, *law == 'u' ? 0.0263 : 0.2333, 0.03) << law;
    const Share& mean = m.shares.back();
    EXPECT_EQ(mean.what, "mean scan length, entries");
    EXPECT_NEAR(mean.observed, mean.expected, 4 * 11 / std::sqrt(3'000));
  }
  config_.mix.max_scan_length = 4;
  config_.mix.min_scan_length = 4;
  lengths.clear();
  Run(Wrapped(behaviour), {"ycsbload", "mix"});
  EXPECT_EQ(lengths.size(), 1u);
  EXPECT_TRUE(lengths.contains(4));
}

TEST_F(MixRun, NeedsKeyOrderOnlyForScans) {
  const Driver unordered = Wrapped({}, ScanSupport::kUnordered);
  const auto status = [&] {
    return Run(unordered, {"ycsbload", "mix"})[1].status;
  };
  EXPECT_EQ(status(), Status::kUnsupported);
  Choose("read:67,insert:3,delete:30");
  EXPECT_EQ(status(), Status::kOk);
}

TEST_F(MixRun, NeedsBackwardScansOnlyForScansInReverse) {
  const Driver forward = Wrapped({}, ScanSupport::kForward);
  const auto measured = [&] { return Run(forward, {"ycsbload", "mix"})[1]; };
  Choose("read:50,scan:49,scanreverse:1");
  EXPECT_EQ(measured().status, Status::kUnsupported);
  EXPECT_EQ(measured().reason, "scans forward only");
  Choose("read:50,scan:50");
  EXPECT_EQ(measured().status, Status::kOk);
}

TEST_F(MixRun, NeedsTheRecordsOfItsLoad) {
  const Measurement m = Run(Wrapped({}), {"filluniquerandom", "mix"})[1];
  EXPECT_EQ(m.status, Status::kError);
  EXPECT_NE(m.reason.find("ycsbload"), std::string::npos) << m.reason;
}

TEST_F(MixRun, DetectsALostDelete) {
  Behaviour behaviour;
  behaviour.write = [](Session& session, std::span<const Update> batch) {
    if (batch.front().value) session.Write(batch);
  };
  ExpectWrong(behaviour, "read:50,delete:50");
  ExpectWrong(behaviour, "scan:50,delete:50");
}

TEST_F(MixRun, DetectsAMissingKeyThatIsFound) {
  Behaviour behaviour;
  behaviour.get = [](Session& session, std::string_view key) {
    const auto value = session.Get(key);
    return value ? value : std::optional<std::string_view>("found");
  };
  ExpectWrong(behaviour, "read:90,missing:10");
}

TEST_F(MixRun, DetectsAKeyThatIsNotFound) {
  Behaviour behaviour;
  behaviour.get = [](Session& session,
                     std::string_view key) -> std::optional<std::string_view> {
    const auto value = session.Get(key);
    return key.ends_with('7') ? std::nullopt : value;
  };
  ExpectWrong(behaviour, "read:90,update:10");
  ExpectWrong(behaviour, "read:90,delete:10");
}

TEST_F(MixRun, DetectsAScanThatSkipsAnEntry) {
  Behaviour behaviour;
  behaviour.scan = [](Session& session, std::string_view start, Order order,
                      const Visitor& visit) {
    session.Scan(start, order, [&](auto key, auto value) {
      return key.ends_with('7') || visit(key, value);
    });
  };
  ExpectWrong(behaviour, "scan:90,update:10");
  ExpectWrong(behaviour, "scan:90,delete:10");
  ExpectWrong(behaviour, "scanreverse:90,update:10");
  ExpectWrong(behaviour, "scanreverse:90,delete:10");
}

TEST_F(MixRun, DetectsAScanInTheWrongDirection) {
  Behaviour behaviour;
  behaviour.scan = [](Session& session, std::string_view start, Order order,
                      const Visitor& visit) {
    const bool reverse = !start.empty() && order == Order::kBackward;
    session.Scan(start, reverse ? Order::kForward : order, visit);
  };
  ExpectWrong(behaviour, "scanreverse:100");
}

TEST_F(MixRun, DetectsAReverseScanThatStartsAtTheNextEntry) {
  Behaviour behaviour;
  behaviour.scan = [](Session& session, std::string_view start, Order order,
                      const Visitor& visit) {
    const bool reverse = !start.empty() && order == Order::kBackward;
    session.Scan(start, order, [&](auto key, auto value) {
      return (reverse && key == start) || visit(key, value);
    });
  };
  ExpectWrong(behaviour, "scanreverse:100");
}

// Gets return the first value that a key had, though it was overwritten or
// deleted since.
TEST_F(MixRun, DetectsAValueFromBeforeADelete) {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> first;
  Behaviour behaviour;
  behaviour.get = [&](Session& session,
                      std::string_view key) -> std::optional<std::string_view> {
    const auto value = session.Get(key);
    if (!value) return value;
    const std::lock_guard lock(mutex);
    return first.try_emplace(std::string(key), *value).first->second;
  };
  ExpectWrong(behaviour, "read:50,update:30,delete:20");
}

}  // namespace
}  // namespace kvmatrix
