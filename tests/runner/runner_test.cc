// What the runner measures and records, shown with a fake clock.

#include "common/run/runner.h"

#include <fstream>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

using RunnerTest = RunnerFixture;

TEST_F(RunnerTest, EveryBenchmarkIsRightOnTheReference) {
  for (const Benchmark& benchmark : AllBenchmarks()) {
    if (benchmark.kind == Kind::kPrimitive) continue;  // it offers none
    const bool fresh = benchmark.prepare == Prepare::kFresh;
    const auto measurements =
        fresh ? Run(Wrapped({}), {benchmark.name, "verify"})
              : Run(Wrapped({}), {benchmark.fill, benchmark.name, "verify"});
    for (const Measurement& m : measurements) {
      EXPECT_EQ(m.status, Status::kOk) << benchmark.name << " then "
                                       << m.benchmark->name << ": " << m.reason;
      EXPECT_TRUE(m.verified);
      EXPECT_EQ(m.run.loop.operations, m.planned_operations)
          << m.benchmark->name;
    }
  }
}

// A watcher learns from the file whether a process that crashed had completed
// any operation, also when it audits.
TEST_F(RunnerTest, ShowsTheProgressOfEveryBenchmarkButNoneWhileItOpens) {
  std::filesystem::create_directories(config_.db);
  config_.progress = config_.db / "progress";
  const auto progress = [this] {
    uint64_t count = 0;
    std::ifstream(config_.progress, std::ios::binary)
        .read(reinterpret_cast<char*>(&count), sizeof(count));
    return count;
  };
  std::vector<uint64_t> at_open, after_an_entry, at_close;
  Behaviour behaviour;
  behaviour.open = [&] { at_open.push_back(progress()); };
  behaviour.close = [&] { at_close.push_back(progress()); };
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    bool first = start.empty();  // not of the audit's seeks
    session.Scan(start, order,
                 [&](std::string_view key, std::string_view value) {
                   const bool more = visit(key, value);
                   if (first) after_an_entry.push_back(progress());
                   first = false;
                   return more;
                 });
  };
  Run(Wrapped(behaviour), {"fillseq", "verify", "readseq", "readrandom"});
  EXPECT_EQ(at_open, (std::vector<uint64_t>{0, 0, 0, 0}));
  EXPECT_EQ(after_an_entry, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(at_close, (std::vector<uint64_t>{500, 500, 500, 500}));
}

TEST_F(RunnerTest, CountsTheOperationsOfTheNames) {
  config_.num = 100'000;
  const auto m =
      Run(Wrapped({}), {"fillseqsync", "fillseq100K", "fillseqbatch"});
  EXPECT_EQ(m[0].run.loop.operations, 1'000u);
  EXPECT_EQ(m[1].run.loop.operations, 100u);
  EXPECT_EQ(m[1].run.loop.bytes, 100u * (16 + 100'000));
  EXPECT_EQ(m[2].run.loop.operations, 100'000u);
}

TEST_F(RunnerTest, WritesBatchesOfTheNamedSize) {
  std::vector<size_t> sizes;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    sizes.push_back(batch.size());
    session.Write(batch);
  };
  config_.num = 2'500;
  Run(Wrapped(behaviour), {"fillseqbatch"});
  EXPECT_EQ(sizes, (std::vector<size_t>{1000, 1000, 500}));
}

TEST_F(RunnerTest, TimesEachPhaseSeparately) {
  Behaviour behaviour;
  const auto take = [this](uint64_t ns) {
    return [this, ns] { clock_.now_ns += ns; };
  };
  behaviour.open = take(1'000'000);
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    clock_.now_ns += 10;
    session.Write(batch);
  };
  behaviour.flush = take(300);
  behaviour.settle = take(2'000);
  behaviour.close = take(70'000);
  const Measurement m = Run(Wrapped(behaviour), {"fillseq"}).front();
  EXPECT_EQ(m.open_ns, 1'000'000u);
  EXPECT_EQ(m.run.loop.loop_ns, 500u * 10);
  EXPECT_EQ(m.flush_ns, 300u);
  EXPECT_EQ(m.settle_ns, 2'000u);
  EXPECT_EQ(m.close_ns, 70'000u);
}

TEST_F(RunnerTest, AnExceptionOfAnyTypeIsAnError) {
  Behaviour behaviour;
  behaviour.write = [](Session&, std::span<const Update>) { throw 42; };
  for (const uint64_t threads : {1, 2}) {
    config_.threads = threads;
    const Measurement m = Run(Wrapped(behaviour), {"fillseq"}).front();
    EXPECT_EQ(m.status, Status::kError);
    EXPECT_EQ(m.reason, "the engine threw what is no std::exception");
  }
}

// An engine's threads can use that time for their deferred work.
TEST_F(RunnerTest, WhatIsDoneBetweenTheFlushAndSettlingIsSettling) {
  Behaviour behaviour;
  behaviour.flush = [this] { clock_.now_ns += 300; };
  behaviour.count = [this] { clock_.now_ns += 40; };
  behaviour.settle = [this] { clock_.now_ns += 2'000; };
  const Measurement m = Run(Wrapped(behaviour), {"fillseq"}).front();
  EXPECT_EQ(m.flush_ns, 300u);
  EXPECT_EQ(m.settle_ns, 2'040u);
}

TEST_F(RunnerTest, ChecksScansOutsideOfTheFlush) {
  Behaviour behaviour;
  behaviour.flush = [this] { clock_.now_ns += 300; };
  const auto m = Run(Wrapped(behaviour), {"fillseq", "readseq", "verify"});
  EXPECT_EQ(m[1].flush_ns, 0u);
  EXPECT_EQ(m[2].settle_ns, 0u);
}

TEST_F(RunnerTest, LatencyIsStampedAfterTheCall) {
  Behaviour behaviour;
  uint64_t calls = 0;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    clock_.now_ns += ++calls % 100 == 0 ? 1'000'000 : 1'000;
    session.Write(batch);
  };
  config_.histogram = true;
  const Measurement m = Run(Wrapped(behaviour), {"fillseq"}).front();
  ASSERT_TRUE(m.run.trace.latency);
  EXPECT_EQ(m.run.trace.latency->count(), 500u);
  EXPECT_EQ(m.run.trace.latency->max_ns(), 1'000'000u);
  EXPECT_EQ(m.run.trace.latency->min_ns(), 1'000u);
  EXPECT_EQ(m.run.trace.latency->sum_ns(), m.run.loop.loop_ns);
}

TEST_F(RunnerTest, StopsAtTheDurationAndTheAuditKnows) {
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    clock_.now_ns += 10'000'000;
    session.Write(batch);
  };
  config_.duration_ns = 1'000'000'000;
  const Measurement m = Run(Wrapped(behaviour), {"filluniquerandom"}).front();
  config_.duration_ns = 0;
  EXPECT_TRUE(m.run.trace.truncated);
  EXPECT_EQ(m.planned_operations, 500u);
  EXPECT_LT(m.run.loop.operations, 120u);
  AppliedBenchmark past = ParseAfterWord("filluniquerandom");
  EXPECT_EQ(RunAfter(Wrapped({}), {past}, "verify").status, Status::kWrong);
  past.operations = m.run.operations_by_thread;
  EXPECT_EQ(RunAfter(Wrapped({}), {past}, "verify").status, Status::kOk);
}

// The memory driver, each call of which takes 10 us of the clock.
Behaviour Slow(FakeClock& clock) {
  constexpr uint64_t kCallNs = 10'000;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    clock.now_ns += kCallNs;
    session.Write(batch);
  };
  behaviour.get = [&](Session& session, std::string_view key) {
    clock.now_ns += kCallNs;
    return session.Get(key);
  };
  behaviour.scan = [&](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    clock.now_ns += kCallNs;
    session.Scan(start, order, visit);
  };
  return behaviour;
}

TEST_F(RunnerTest, ATimeLimitAloneEndsWhatHasNoAmount) {
  config_.num = config_.reads = 50;
  for (const uint64_t threads : {1, 2}) {
    config_.threads = threads;
    config_.ends_by_time = true;
    config_.duration_ns = 20'000'000;  // 2,000 calls
    for (const char* name :
         {"readrandom", "readmissing", "seekrandom", "overwrite",
          "overwritebatch", "deleterandom", "readrandomwriterandom"}) {
      const auto run =
          Run(Wrapped(Slow(clock_)), {"filluniquerandom", name, "verify"});
      EXPECT_EQ(run[0].run.loop.operations, 50u) << name;
      EXPECT_EQ(run[1].status, Status::kOk) << run[1].reason;
      EXPECT_GT(run[1].run.loop.operations, 500u) << name;
      EXPECT_EQ(run[1].planned_operations, run[1].run.loop.operations) << name;
      EXPECT_TRUE(run[1].run.trace.truncated) << name;
      EXPECT_EQ(run[2].status, Status::kOk) << name << ": " << run[2].reason;
    }
    config_.ends_by_time = false;  // --reads was given
    EXPECT_EQ(Over(Slow(clock_), "readrandom").run.loop.operations,
              50u * threads);
    EXPECT_EQ(Over(Slow(clock_), "overwrite").run.loop.operations, 50u);
  }
}

TEST_F(RunnerTest, WhatTimeAloneEndedIsReplayed) {
  config_.num = 50;
  config_.duration_ns = 20'000'000;
  config_.ends_by_time = true;
  const auto run = Run(Wrapped(Slow(clock_)), {"fillseq", "overwrite"});
  AppliedBenchmark past = ParseAfterWord("overwrite");
  past.operations = run[1].run.operations_by_thread;
  ASSERT_GT(past.operations.front(), 500u);
  EXPECT_EQ(
      RunAfter(Wrapped({}), {ParseAfterWord("fillseq"), past}, "verify").status,
      Status::kOk);
}

TEST_F(RunnerTest, AFreshProcessKnowsWhatTheDatabaseHolds) {
  Run(Wrapped({}), {"filluniquerandom", "overwrite", "deleterandom"});
  const std::vector<AppliedBenchmark> past = {
      ParseAfterWord("filluniquerandom"), ParseAfterWord("overwrite"),
      ParseAfterWord("deleterandom")};
  for (const char* name : {"verify", "readrandom", "readseq", "readreverse",
                           "seekrandom", "readmissing"}) {
    const Measurement m = RunAfter(Wrapped({}), past, name);
    EXPECT_EQ(m.status, Status::kOk) << name << ": " << m.reason;
  }
  const std::vector<AppliedBenchmark> less = {past[0], past[1]};
  EXPECT_EQ(RunAfter(Wrapped({}), less, "verify").status, Status::kWrong);
}

TEST_F(RunnerTest, ASeekFindsOnlyTheRequestedKey) {
  const auto m = Run(Wrapped({}), {"fillrandom", "readrandom", "seekrandom"});
  for (const size_t read : {1u, 2u}) {  // 63 % of the keys are there
    EXPECT_GT(m[read].run.loop.found, config_.reads / 2);
    EXPECT_LT(m[read].run.loop.found, config_.reads * 3 / 4);
  }
}

TEST_F(RunnerTest, TheSameSeedGivesTheSameDigestAndAnotherAnother) {
  const auto first = Run(Wrapped({}), {"fillrandom", "readrandom"});
  const auto again = Run(Wrapped({}), {"fillrandom", "readrandom"});
  config_.seed = 302;
  const auto other = Run(Wrapped({}), {"fillrandom", "readrandom"});
  for (const size_t i : {0u, 1u}) {
    EXPECT_NE(first[i].digest, 0u);
    EXPECT_EQ(first[i].digest, again[i].digest);
    EXPECT_NE(first[i].digest, other[i].digest);
  }
  EXPECT_EQ(first[1].run.loop.found, again[1].run.loop.found);
}

// Reads of the same keys as earlier reads would be cache hits.
TEST_F(RunnerTest, TheSecondReadrandomDrawsOtherKeys) {
  const auto m = Run(Wrapped({}), {"fillseq", "readrandom", "readrandom"});
  EXPECT_NE(m[1].digest, m[2].digest);
}

// The digest of an audit is one of the bytes received, that of a write one of
// the entries that are due.
TEST_F(RunnerTest, TheDigestOfAnAuditIsThatOfTheContents) {
  const auto m = Run(Wrapped({}), {"fillseq", "verify", "verify", "deleteseq",
                                   "fillseq", "verify", "overwrite", "verify"});
  EXPECT_EQ(m[1].digest, m[2].digest);
  EXPECT_EQ(m[1].digest, m[5].digest);
  EXPECT_NE(m[5].digest, m[7].digest);
  EXPECT_EQ(m[7].status, Status::kOk);
}

TEST_F(RunnerTest, TheAuditSeesTheEntriesThatWereWritten) {
  const auto m = Run(Wrapped({}), {"fillrandom", "verify", "readseq"});
  EXPECT_EQ(m[2].digest, m[0].digest);
  EXPECT_EQ(m[1].run.loop.found, m[1].run.loop.operations);
  EXPECT_EQ(m[1].run.loop.bytes, m[1].run.loop.operations * (16 + 100));
}

TEST_F(RunnerTest, ReadsNeedADatabase) {
  for (const char* name : {"readrandom", "readseq", "overwrite", "deleteseq"}) {
    const Measurement m = Run(Wrapped({}), {name}).front();
    EXPECT_EQ(m.status, Status::kError) << name;
    EXPECT_NE(m.reason.find("run a fill first"), std::string::npos);
  }
}

TEST_F(RunnerTest, AFillDoesNotDestroyAnExistingDatabase) {
  Run(Wrapped({}), {"fillseq"});
  EXPECT_EQ(
      RunAfter(Wrapped({}), {ParseAfterWord("fillseq")}, "fillrandom").status,
      Status::kError);
  EXPECT_EQ(RunAfter(Wrapped({}), {ParseAfterWord("fillseq")}, "verify").status,
            Status::kOk);
}

TEST_F(RunnerTest, AnEngineExceptionBecomesTheStatus) {
  Behaviour refuses;
  refuses.write = [](Session&, std::span<const Update>) {
    throw Unsupported("cannot do that");
  };
  Measurement m = Run(Wrapped(refuses), {"fillseq"}).front();
  EXPECT_EQ(m.status, Status::kUnsupported);
  EXPECT_EQ(m.reason, "cannot do that");
  Behaviour fails;
  fails.flush = [] { throw std::runtime_error("disk full"); };
  m = Run(Wrapped(fails), {"fillseq"}).front();
  EXPECT_EQ(m.status, Status::kError);
  EXPECT_EQ(m.reason, "disk full");
}

// A folder that was removed with all around it must not come back.
TEST_F(RunnerTest, CreatesTheFolderOfADatabaseButNotThatAroundIt) {
  const std::filesystem::path around = config_.db;
  config_.db = around / "db";
  try {
    Run(Wrapped({}), {"fillseq"});
    ADD_FAILURE() << "it has created " << around;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("--db: cannot create"),
              std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(around));
  std::filesystem::create_directory(around);
  EXPECT_EQ(Run(Wrapped({}), {"fillseq"}).front().status, Status::kOk);
  config_.db = around;
}

TEST_F(RunnerTest, WithoutKeyOrderScansAreUnsupportedButTheAuditRuns) {
  const auto m =
      Run(Wrapped({}, ScanSupport::kUnordered),
          {"fillrandom", "readseq", "seekrandom", "readrandom", "verify"});
  EXPECT_EQ(m[1].status, Status::kUnsupported);
  EXPECT_EQ(m[2].status, Status::kUnsupported);
  EXPECT_EQ(m[3].status, Status::kOk);
  EXPECT_EQ(m[4].status, Status::kOk) << m[4].reason;
}

TEST_F(RunnerTest, ScanningForwardOnlyTheBackwardScansAreUnsupported) {
  const auto m = Run(Wrapped({}, ScanSupport::kForward),
                     {"fillrandom", "readreverse", "readseq", "seekrandom",
                      "seekordered", "verify"});
  EXPECT_EQ(m[1].status, Status::kUnsupported);
  EXPECT_EQ(m[1].reason, "scans forward only");
  for (const size_t other : {2, 3, 4, 5}) {
    EXPECT_EQ(m[other].status, Status::kOk) << m[other].reason;
  }
}

}  // namespace
}  // namespace kvmatrix
