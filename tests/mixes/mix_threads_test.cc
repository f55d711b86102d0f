// YCSB's workloads and mixgraph run by several threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "tests/mixes/mixgraph_fixture.h"
#include "tests/mixes/ycsb_fixture.h"
#include "tests/runner/waiting.h"

namespace kvmatrix {
namespace {

TEST_F(YcsbRun, OfThreadsLeavesTheEntriesOfItsReplay) {
  config_.threads = 4;
  config_.reads = 1'000;
  for (const std::string_view name : kAll) {
    const auto m = Run(Wrapped({}), {"ycsbload", name, name, "verify"});
    for (const Measurement& one : m) {
      ASSERT_EQ(one.status, Status::kOk) << name << ": " << one.reason;
    }
    EXPECT_EQ(m[1].run.loop.operations, 4 * config_.reads);
    uint64_t operations = 0;
    for (const auto& [type, count] : m[1].run.loop.by_type) {
      operations += count;
    }
    EXPECT_EQ(operations, 4 * config_.reads);
    const auto past = [&](std::string_view of, const Measurement& one) {
      return AppliedBenchmark{FindBenchmark(of), one.run.operations_by_thread};
    };
    const Measurement audit = RunAfter(
        Wrapped({}),
        {past("ycsbload", m[0]), past(name, m[1]), past(name, m[2])}, "verify");
    EXPECT_EQ(audit.status, Status::kOk) << name << ": " << audit.reason;
    AppliedBenchmark less = past(name, m[2]);
    less.operations[2] /= 2;
    const Measurement wrong =
        RunAfter(Wrapped({}), {past("ycsbload", m[0]), past(name, m[1]), less},
                 "verify");
    EXPECT_EQ(wrong.status == Status::kOk, name == "ycsbc") << name;
  }
}

TEST_F(YcsbRun, OfThreadsDetectsALostUpdate) {
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

TEST_F(YcsbRun, OfThreadsDetectsAScanThatSkipsAnEntry) {
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

// Gets return a value that was once right and has been overwritten.
TEST_F(YcsbRun, OfThreadsDetectsAReadOfAnOlderRecord) {
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

// The first write of the hottest record takes a second.  The other thread still
// has to make all of its own writes of that record, and meanwhile waits in the
// harness.
TEST_F(YcsbRun, OfThreadsRecordsTheWaitForARecordAndNotInTheCall) {
  constexpr uint64_t kSecond = 1'000'000'000;
  config_.histogram = true;
  config_.mix.writeallfields = true;
  config_.threads = 2;
  std::mutex mutex;
  uint64_t writes = 0;
  std::map<std::string, uint64_t, std::less<>> of_key;
  std::string hottest;
  bool slow = false;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    session.Write(batch);
    const std::string key(batch.front().key);
    {
      const std::lock_guard lock(mutex);
      if (++writes <= config_.num) return;
      ++of_key[key];
      if (slow || key != hottest) return;
      slow = true;
    }
    AwaitOthersAsleep();
    clock_.now_ns += kSecond;
  };
  RunLoaded(Wrapped(behaviour), "ycsba");
  hottest = std::ranges::max_element(of_key, {}, [](const auto& each) {
              return each.second;
            })->first;
  writes = 0;
  const Measurement m = RunLoaded(Wrapped(behaviour), "ycsba");
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  ASSERT_TRUE(slow);
  EXPECT_EQ(m.run.loop.claim_wait_ns, kSecond);
  EXPECT_EQ(m.run.trace.latency->sum_ns(), kSecond);
  EXPECT_EQ(m.run.latency_by_type.at("update").sum_ns(), kSecond);
}

TEST_F(MixgraphRun, OfThreadsLeavesTheEntriesOfItsReplay) {
  Choose("mixgraph-c");
  config_.threads = 3;
  const auto m = Run(Wrapped({}), {"filluniquerandom", "mixgraph-c", "verify"});
  for (const Measurement& one : m) {
    ASSERT_EQ(one.status, Status::kOk) << one.reason;
  }
  const auto past = [&](const Measurement& one) {
    return AppliedBenchmark{one.benchmark, one.run.operations_by_thread};
  };
  const Measurement audit =
      RunAfter(Wrapped({}), {past(m[0]), past(m[1])}, "verify");
  EXPECT_EQ(audit.status, Status::kOk) << audit.reason;
}

// While one thread is held back, others read what mixgraph has put, including
// its size; a writer that continued would soon have overwritten all of it.
TEST_F(MixgraphRun, LeavesTheRightEntriesDuringWrites) {
  Choose("mixgraph");
  config_.writes_per_second = 1;
  clock_.skips_waits = false;
  for (const std::string_view name :
       {"readrandomwriterandom", "readwhilewriting",
        "seekrandomwhilewriting"}) {
    for (const Measurement& m :
         Run(Wrapped({}), {"filluniquerandom", "mixgraph", name, "verify"})) {
      EXPECT_EQ(m.status, Status::kOk) << m.benchmark->name << m.reason;
    }
    Behaviour longer;
    longer.get = [](Session& session, std::string_view key) {
      thread_local std::string value;
      const auto found = session.Get(key);
      if (!found) return found;
      value =
          std::string(*found) + value.substr(0, found->size() == 43 ? 0 : 1);
      return std::optional<std::string_view>(value);
    };
    longer.scan = [](Session& session, std::string_view start, Order order,
                     const Visitor& visit) {
      session.Scan(start, order, [&](auto key, auto value) {
        return visit(key, value.substr(0, value.size() - (value.size() != 43)));
      });
    };
    const Measurement m =
        Run(Wrapped(longer), {"filluniquerandom", "mixgraph", name})[2];
    EXPECT_EQ(m.status, Status::kWrong) << name;
  }
}

TEST_F(MixgraphRun, OfThreadsDetectsALostDelete) {
  Choose("mixgraph-c");
  config_.threads = 2;
  config_.mix.mixgraph.mix_get_ratio = 0;
  config_.mix.mixgraph.mix_put_ratio = 0.05;
  config_.mix.mixgraph.mix_seek_ratio = 0.95;
  Behaviour behaviour;
  const auto lies = [](Session& session, std::span<const Update> batch) {
    if (batch.front().value) session.Write(batch);
  };
  for (const bool lying : {false, true}) {
    if (lying) behaviour.write = lies;
    const Measurement m =
        Run(Wrapped(behaviour),
            {"filluniquerandom", "deleterandom", "mixgraph-c"})[2];
    EXPECT_EQ(m.status, lying ? Status::kWrong : Status::kOk) << m.reason;
  }
}

}  // namespace
}  // namespace kvmatrix
