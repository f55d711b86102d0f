// Benchmarks run by several threads: what they do, what is recorded, and which
// lies are detected.  Their timing is tested in schedules_test.cc.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "common/mixes/ycsb.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

class Threads : public RunnerFixture {
 protected:
  Threads() { config_.threads = 4; }

  Measurement AuditAfter(const std::vector<AppliedBenchmark>& past) {
    return RunAfter(Wrapped({}), past, "verify");
  }

  AppliedBenchmark Filled() {
    return {FindBenchmark("filluniquerandom"), {config_.num}};
  }
};

TEST_F(Threads, EveryBenchmarkIsRightAndAuditedByAFreshProcess) {
  for (const Benchmark& benchmark : AllBenchmarks()) {
    if (IsYcsb(benchmark) || IsMix(benchmark)) continue;
    if (benchmark.kind == Kind::kCompact) continue;
    if (benchmark.kind == Kind::kPrimitive) continue;
    const bool fresh = benchmark.prepare == Prepare::kFresh;
    std::vector<std::string_view> names = {benchmark.name, "verify"};
    if (!fresh) names.insert(names.begin(), "filluniquerandom");
    const auto all = Run(Wrapped({}), names);
    for (const Measurement& m : all) {
      EXPECT_EQ(m.status, Status::kOk) << benchmark.name << " then "
                                       << m.benchmark->name << ": " << m.reason;
      EXPECT_EQ(m.run.loop.operations, m.planned_operations)
          << m.benchmark->name;
    }
    if (!Changes(benchmark)) continue;
    const Measurement& m = all[fresh ? 0 : 1];
    std::vector<AppliedBenchmark> past;
    if (!fresh) past.push_back(Filled());
    past.push_back({&benchmark, m.run.operations_by_thread});
    const Measurement audit = AuditAfter(past);
    EXPECT_EQ(audit.status, Status::kOk) << benchmark.name << audit.reason;
    EXPECT_EQ(m.run.operations_by_thread.size(), benchmark.writer ? 1u : 4u);
  }
}

TEST_F(Threads, DivideTheWritesAndEachDoesAllReads) {
  config_.num = 502;
  config_.reads = 100;
  const auto m = Run(Wrapped({}), {"fillrandom", "readrandom", "readseq"});
  EXPECT_EQ(m[0].run.operations_by_thread,
            (std::vector<uint64_t>{126, 126, 125, 125}));
  EXPECT_EQ(m[1].run.loop.operations, 400u);
  EXPECT_EQ(m[2].run.loop.operations, 400u);
}

TEST_F(Threads, EachHaveASession) {
  std::mutex mutex;
  std::set<Session*> sessions;
  std::set<std::thread::id> threads;
  Behaviour behaviour;
  behaviour.get = [&](Session& session, std::string_view key) {
    const std::lock_guard lock(mutex);
    sessions.insert(&session);
    threads.insert(std::this_thread::get_id());
    return session.Get(key);
  };
  EXPECT_EQ(Over(behaviour, "readrandom").status, Status::kOk);
  EXPECT_EQ(sessions.size(), 4u);
  EXPECT_EQ(threads.size(), 4u);
}

// The engine decides which writes happen at once, the harness keeps none back:
// all threads meet in the engine, each with a batch of as many keys as there
// are to draw from.
TEST_F(Threads, WriteRandomBatchesAtOnce) {
  config_.threads = 8;
  config_.num = 8'000;
  std::latch all(8);
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    thread_local bool met = false;
    if (!std::exchange(met, true)) all.arrive_and_wait();
    session.Write(batch);
  };
  const auto m = Run(Wrapped(behaviour), {"fillrandbatch", "verify"});
  EXPECT_EQ(m[0].status, Status::kOk) << m[0].reason;
  EXPECT_EQ(m[1].status, Status::kOk) << m[1].reason;
  EXPECT_EQ(m[0].run.loop.claim_wait_ns, 0u);
}

TEST_F(Threads, DrawKeysOfTheirOwn) {
  const Measurement together = Over({}, "readrandom");
  config_.threads = 1;
  const Measurement alone = Over({}, "readrandom");
  EXPECT_NE(*together.digest, 4 * *alone.digest);
}

TEST_F(Threads, MergeTheirLatenciesAndTimelines) {
  config_.histogram = true;
  const Measurement m = Over({}, "readrandom");
  ASSERT_TRUE(m.run.trace.latency);
  EXPECT_EQ(m.run.trace.latency->count(), 2'000u);
}

TEST_F(Threads, AnExceptionOfOneBecomesTheStatusAndEndsTheOthers) {
  std::atomic<int> calls = 0;
  Behaviour behaviour;
  behaviour.get = [&](Session& session, std::string_view key) {
    if (++calls == 300) throw std::runtime_error("disk full");
    return session.Get(key);
  };
  for (const char* name : {"readrandom", "readwhilewriting"}) {
    calls = 0;
    const Measurement m = Over(behaviour, name);
    EXPECT_EQ(m.status, Status::kError);
    EXPECT_EQ(m.reason, "disk full");
  }
}

TEST_F(Threads, AnAuditWithOneOperationLessIsWrong) {
  std::atomic<uint64_t> writes = 0;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    session.Write(batch);
    ++writes;
  };
  behaviour.get = [&](Session& session, std::string_view key) {
    while (writes <= config_.num) std::this_thread::yield();
    return session.Get(key);
  };
  for (const char* name :
       {"overwrite", "readwhilewriting", "readrandomwriterandom"}) {
    config_.readwritepercent = 0;
    writes = 0;
    Measurement m = Over(behaviour, name);
    ASSERT_EQ(m.status, Status::kOk) << m.reason;
    ASSERT_GE(m.run.operations_by_thread.back(), 1u);
    --m.run.operations_by_thread.back();
    const Measurement audit = AuditAfter(
        {Filled(), {FindBenchmark(name), m.run.operations_by_thread}});
    EXPECT_EQ(audit.status, Status::kWrong) << name;
  }
}

// Lies of an engine under concurrency, each a few lines around the reference.
class ConcurrentLies : public Threads {
 protected:
  void ExpectWrong(const Measurement& m, std::string_view message) {
    EXPECT_EQ(m.status, Status::kWrong);
    EXPECT_NE(m.reason.find(message), std::string::npos) << m.reason;
  }

  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> first_;  // values written
  std::string answer_;
};

// A reader sees the state before an acknowledged write.
TEST_F(ConcurrentLies, AnOldValueIsDetected) {
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    for (const Update& update : batch) {
      const std::lock_guard lock(mutex_);
      first_.try_emplace(std::string(update.key), *update.value);
    }
    session.Write(batch);
  };
  behaviour.get = [&](Session& session,
                      std::string_view key) -> std::optional<std::string_view> {
    thread_local std::string old;
    const auto value = session.Get(key);
    const std::lock_guard lock(mutex_);
    const auto found = first_.find(key);
    if (found == first_.end()) return value;
    return old = found->second;
  };
  config_.readwritepercent = 50;
  ExpectWrong(Over(behaviour, "readrandomwriterandom"), "an old value");
}

// If two threads write a key, the second write is lost.
TEST_F(ConcurrentLies, ALostUpdateIsDetected) {
  Behaviour behaviour;
  std::atomic<int> writes = 0;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    if (++writes != 1'000) session.Write(batch);  // the last
  };
  const auto m =
      Run(Wrapped(behaviour), {"filluniquerandom", "overwrite", "verify"});
  ExpectWrong(m[2], "a value differs from version");
}

TEST_F(ConcurrentLies, AValueOfTwoVersionsIsDetected) {
  Behaviour behaviour;
  behaviour.get = [](Session& session,
                     std::string_view key) -> std::optional<std::string_view> {
    thread_local std::string torn;
    torn = std::string(session.Get(key).value_or(""));
    std::string other(session.Get("0000000000000007").value_or(""));
    if (torn.size() == other.size() && torn != other) {
      torn.replace(50, 50, other.substr(50));
    }
    return torn;
  };
  ExpectWrong(Over(behaviour, "readwhilewriting"), "a value that was never");
}

TEST_F(ConcurrentLies, DroppedWritesOfOneThreadAreDetected) {
  Behaviour behaviour;
  std::atomic<Session*> dropped = nullptr;
  std::atomic<int> writes = 0;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    if (++writes > 600) {
      Session* none = nullptr;
      dropped.compare_exchange_strong(none, &session);
    }
    if (&session != dropped) session.Write(batch);
  };
  const auto m =
      Run(Wrapped(behaviour), {"filluniquerandom", "overwrite", "verify"});
  ExpectWrong(m[2], "a value differs from version");
}

// The engine returns a version that no thread has begun to write.
TEST_F(ConcurrentLies, AFutureValueIsDetected) {
  const Values values(config_.seed, config_.value_size,
                      config_.compression_ratio);
  Behaviour behaviour;
  behaviour.get = [&](Session& session,
                      std::string_view key) -> std::optional<std::string_view> {
    thread_local std::string future;
    if (!session.Get(key)) return std::nullopt;
    future.assign(values.buffer_size(), '\0');
    const uint64_t index = *ParseKey(key, config_.key_shape());
    future.resize(values.Write(index, 500'000, future.data()));
    return future;
  };
  ExpectWrong(Over(behaviour, "readwhilewriting"), "a value that was never");
  behaviour.get = [&](Session& session,
                      std::string_view key) -> std::optional<std::string_view> {
    thread_local std::string future;
    if (!session.Get(key)) return std::nullopt;
    future.assign(values.buffer_size(), '\0');
    const uint64_t index = *ParseKey(key, config_.key_shape());
    future.resize(values.Write(index, 900, future.data()));
    return future;
  };
  // A writer that continued would come near that version.
  config_.writes_per_second = 1;
  clock_.skips_waits = false;
  ExpectWrong(Over(behaviour, "readwhilewriting"), "a future value");
}

TEST_F(ConcurrentLies, AForgottenKeyIsDetected) {
  Behaviour behaviour;
  std::atomic<int> calls = 0;
  behaviour.get = [&](Session& session, std::string_view key) {
    return ++calls == 900 ? std::nullopt : session.Get(key);
  };
  ExpectWrong(Over(behaviour, "readwhilewriting"), "is not found");
}

TEST_F(ConcurrentLies, ASeekThatSkipsAnEntryIsDetected) {
  Behaviour behaviour;
  behaviour.scan = [](Session& session, std::string_view start, Order order,
                      const Visitor& visit) {
    bool first = true;
    session.Scan(start, order, [&](std::string_view k, std::string_view v) {
      return std::exchange(first, false) || visit(k, v);
    });
  };
  ExpectWrong(Over(behaviour, "seekrandomwhilewriting"), "a seek lands");
}

TEST_F(ConcurrentLies, ASeekThatReturnsAnotherValueIsDetected) {
  Behaviour behaviour;
  behaviour.scan = [](Session& session, std::string_view start, Order order,
                      const Visitor& visit) {
    session.Scan(start, order, [&](std::string_view key, std::string_view) {
      return visit(key, "another");
    });
  };
  ExpectWrong(Over(behaviour, "seekrandomwhilewriting"),
              "a value that was never");
}

}  // namespace
}  // namespace kvmatrix
