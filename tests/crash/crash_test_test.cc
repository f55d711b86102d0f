// A writer and an audit in one process, with losses made by hand.

#include "common/crash/crash_test.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/crash/trace.h"
#include "tests/crash/crash_fixture.h"

namespace kvmatrix {
namespace {

using CrashTestTest = CrashFixture;

TEST_F(CrashTestTest, NothingIsMissingFromAWholeDatabase) {
  const auto described = Run(CrashTest::kWrite).at(0);
  EXPECT_EQ(exit_status_, 0);
  EXPECT_EQ(described["engine"], "memory");
  EXPECT_EQ(described["promise"], "loses nothing acknowledged");
  EXPECT_EQ(described["counts_barriers"], true);
  const auto answer = Audit();
  EXPECT_EQ(exit_status_, 0);
  EXPECT_EQ(answer["prefix"], answer["acknowledged"]);
  EXPECT_EQ(answer["begun"], answer["acknowledged"]);
  EXPECT_EQ(answer["entries"], answer["expected_entries"]);
  EXPECT_EQ(answer["covered"], nullptr);  // all writes are durable
  for (const char* key : {"lost", "missing", "foreign", "torn_batches"})
    EXPECT_EQ(answer[key], 0) << key;
  for (const char* key :
       {"open_error", "read_error", "write_error", "reopen_error"})
    EXPECT_EQ(answer[key], "") << key;
  auto again = Audit();  // in which probes of the first one are found
  again["open_ns"] = answer["open_ns"];
  EXPECT_EQ(again, answer);
}

TEST_F(CrashTestTest, AWriterKillsItselfWithinACommit) {
  flags_.phases = "batch:40";
  flags_.crash_within = 2;
  EXPECT_EXIT(Run(CrashTest::kWrite), testing::KilledBySignal(SIGKILL), "");
  uint64_t begun = 0;
  for (const TraceRecord& record : ReadTrace(flags_.trace)) {
    if (record.kind == TraceKind::kCommitBegins) begun = record.commit;
  }
  EXPECT_GE(begun, 2u);
  EXPECT_LT(begun, 40u);
  const auto answer = Audit();
  EXPECT_EQ(answer["torn_batches"], 0);
  EXPECT_EQ(answer["lost"], 0);
}

TEST_F(CrashTestTest, AnotherThreadReadsWhatIsWritten) {
  flags_.phases = "single:3,read:4";
  Run(CrashTest::kWrite);
  EXPECT_EQ(exit_status_, 0);
  uint64_t begun = 0, seen = 0, last_ns = 0;
  for (const TraceRecord& record : ReadTrace(flags_.trace)) {
    if (record.kind == TraceKind::kHeader) continue;
    EXPECT_GE(record.at_ns, last_ns);
    last_ns = record.at_ns;
    if (record.kind == TraceKind::kCommitBegins) begun = record.commit;
    if (record.kind != TraceKind::kSeen) continue;
    EXPECT_GT(record.commit, std::max<uint64_t>(seen, 3));
    EXPECT_LE(record.commit, begun);
    seen = record.commit;
  }
  EXPECT_EQ(seen, 7u);
  EXPECT_EQ(Audit()["dirty_reads"], 0);
}

TEST_F(CrashTestTest, TheLastCommitIsMissingWithItsBytes) {
  Run(CrashTest::kWrite);
  const std::vector<TraceRecord> records = ReadTrace(flags_.trace);
  ASSERT_EQ(records.back().kind, TraceKind::kDone);
  Shorten(1);
  const auto answer = Audit();
  EXPECT_EQ(answer["open_error"], "");
  EXPECT_EQ(answer["lost"], 1);
  EXPECT_EQ(answer["prefix"], answer["acknowledged"].get<uint64_t>() - 1);
}

TEST_F(CrashTestTest, WhatWasNotAcknowledgedMayBeThereOrNot) {
  Run(CrashTest::kWrite);
  uint64_t cut_ns = 0;
  for (const TraceRecord& record : ReadTrace(flags_.trace))
    if (record.kind == TraceKind::kAcknowledged && record.commit == 5)
      cut_ns = record.at_ns;
  flags_.cut_ns = cut_ns;
  const auto answer = Run(CrashTest::kAudit).at(0);
  EXPECT_EQ(answer["acknowledged"], 5);
  EXPECT_EQ(answer["lost"], 0);
}

TEST_F(CrashTestTest, ADatabaseThatDoesNotOpenIsAnAnswer) {
  Run(CrashTest::kWrite);
  std::filesystem::remove(Log());
  std::filesystem::create_directory(Log());
  const auto answer = Audit();
  EXPECT_EQ(exit_status_, 0);
  EXPECT_NE(answer["open_error"], "");
}

}  // namespace
}  // namespace kvmatrix
