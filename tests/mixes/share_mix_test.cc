// mix: the shares that a user states, and a run of them.

#include <gtest/gtest.h>

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
