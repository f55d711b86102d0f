// YCSB's workloads by several threads, and what an engine gets wrong in them.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "tests/ycsb_fixture.h"

namespace kvmatrix {
namespace {

// Several threads.

TEST_F(YcsbRun, OfThreadsLeavesWhatAReplayKnows) {
  config_.threads = 4;
  for (const std::string_view name : kAll) {
    const auto m = Run(Wrapped({}), {"ycsbload", name, name, "verify"});
    for (const Measurement& one : m) {
      ASSERT_EQ(one.status, Status::kOk) << name << ": " << one.reason;
    }
    EXPECT_EQ(m[1].operations, 4 * config_.reads);
    uint64_t operations = 0;
    for (const auto& [type, count] : m[1].operations_by_type) {
      operations += count;
    }
    EXPECT_EQ(operations, 4 * config_.reads);
    const auto past = [&](std::string_view of, const Measurement& one) {
      return PastBenchmark{FindBenchmark(of), one.operations_by_thread};
    };
    const Measurement audit = RunAfter(
        Wrapped({}),
        {past("ycsbload", m[0]), past(name, m[1]), past(name, m[2])}, "verify");
    EXPECT_EQ(audit.status, Status::kOk) << name << ": " << audit.reason;
    PastBenchmark less = past(name, m[2]);
    less.operations[2] /= 2;
    const Measurement wrong =
        RunAfter(Wrapped({}), {past("ycsbload", m[0]), past(name, m[1]), less},
                 "verify");
    EXPECT_EQ(wrong.status == Status::kOk, name == "ycsbc") << name;
  }
}

TEST_F(YcsbRun, OfThreadsSeesAnUpdateThatIsNotKept) {
  std::atomic<uint64_t> written = 0;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    if (++written != config_.num + 9) session.Write(batch);
  };
  config_.threads = 3;
  for (const std::string_view name : {"ycsba", "ycsbf", "ycsbe", "ycsbd"}) {
    written = 0;
    const auto m = Run(Wrapped(behaviour), {"ycsbload", name, "verify"});
    EXPECT_TRUE(m[1].status == Status::kWrong || m[2].status == Status::kWrong)
        << name;
  }
}

TEST_F(YcsbRun, OfThreadsSeesAScanThatSkipsAnEntry) {
  std::atomic<uint64_t> visited = 0;
  Behaviour behaviour;
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    session.Scan(start, order, [&](auto key, auto value) {
      return ++visited % 1'000 == 0 || visit(key, value);
    });
  };
  config_.threads = 3;
  const Measurement m = RunLoaded(Wrapped(behaviour), "ycsbe");
  EXPECT_EQ(m.status, Status::kWrong);
}

// What a get answers was true once, and no longer.
TEST_F(YcsbRun, OfThreadsSeesAReadOfAnOlderRecord) {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> first;
  Behaviour behaviour;
  behaviour.get = [&](Session& session,
                      std::string_view key) -> std::optional<std::string_view> {
    const std::optional<std::string_view> value = session.Get(key);
    if (!value) return value;
    const std::lock_guard lock(mutex);
    return first.try_emplace(std::string(key), *value).first->second;
  };
  config_.threads = 3;
  EXPECT_EQ(RunLoaded(Wrapped(behaviour), "ycsbb").status, Status::kWrong);
}

// Lies.

TEST_F(YcsbRun, SeesAReadOfAnOlderRecord) {
  std::map<std::string, std::string> first;
  std::string old;
  Behaviour behaviour;
  behaviour.get = [&](Session& session,
                      std::string_view key) -> std::optional<std::string_view> {
    const auto value = session.Get(key);
    if (!value) return value;
    old = first.try_emplace(std::string(key), *value).first->second;
    return old;
  };
  for (const std::string_view name : {"ycsba", "ycsbb", "ycsbf"}) {
    first.clear();
    const Measurement m = RunLoaded(Wrapped(behaviour), name);
    EXPECT_EQ(m.status, Status::kWrong) << name;
    EXPECT_NE(m.reason.find("differs from version"), std::string::npos)
        << m.reason;
  }
}

TEST_F(YcsbRun, SeesAnInsertThatIsNotKept) {
  uint64_t written = 0;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    if (++written != config_.num + 3) session.Write(batch);
  };
  for (const std::string_view name : {"ycsbd", "ycsbe"}) {
    written = 0;
    const Measurement m = RunLoaded(Wrapped(behaviour), name);
    EXPECT_EQ(m.status, Status::kWrong) << name;
    const std::string_view why = name == "ycsbd"
                                     ? "a key that was written is not found"
                                     : "a scan is out of order or skips";
    EXPECT_NE(m.reason.find(why), std::string::npos) << m.reason;
  }
}

// An insert that reads find and scans do not.
TEST_F(YcsbRun, SeesAScanThatSkipsAnInsert) {
  std::set<std::string, std::less<>> inserted;
  uint64_t written = 0;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    if (++written > config_.num) inserted.emplace(batch.front().key);
    session.Write(batch);
  };
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    session.Scan(start, order, [&](auto key, auto value) {
      return inserted.contains(key) || visit(key, value);
    });
  };
  const Measurement m = RunLoaded(Wrapped(behaviour), "ycsbe");
  EXPECT_EQ(m.status, Status::kWrong);
  EXPECT_NE(m.reason.find("a scan is out of order or skips entries at"),
            std::string::npos)
      << m.reason;
}

TEST_F(YcsbRun, SeesAScanThatEndsOrBeginsElsewhereOrRepeats) {
  Behaviour ends;
  ends.scan = [](Session& session, std::string_view start, Order order,
                 const Visitor& visit) {
    uint64_t visited = 0;
    session.Scan(start, order, [&](auto key, auto value) {
      return visit(key, value) && ++visited < 90;
    });
  };
  EXPECT_NE(RunLoaded(Wrapped(ends), "ycsbe").reason.find("a scan ends before"),
            std::string::npos);
  Behaviour begins;
  begins.scan = [](Session& session, std::string_view, Order order,
                   const Visitor& visit) { session.Scan({}, order, visit); };
  EXPECT_NE(RunLoaded(Wrapped(begins), "ycsbe").reason.find("out of order"),
            std::string::npos);
  Behaviour repeats;
  repeats.scan = [](Session& session, std::string_view start, Order order,
                    const Visitor& visit) {
    session.Scan(start, order, [&](auto key, auto value) {
      return visit(key, value) && visit(key, value);
    });
  };
  EXPECT_NE(RunLoaded(Wrapped(repeats), "ycsbe").reason.find("out of order"),
            std::string::npos);
}

}  // namespace
}  // namespace kvmatrix
