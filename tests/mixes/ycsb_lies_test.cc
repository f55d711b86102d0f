// Wrong answers of an engine in YCSB's workloads are detected.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/mixes/ycsb_fixture.h"

namespace kvmatrix {
namespace {

TEST_F(YcsbRun, DetectsAReadOfAnOlderRecord) {
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

TEST_F(YcsbRun, DetectsALostInsert) {
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

// Inserted records are found by gets but not by scans.
TEST_F(YcsbRun, DetectsAScanThatSkipsAnInsert) {
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

TEST_F(YcsbRun, DetectsAScanWithWrongEndsOrRepetitions) {
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
