// The words of a crash test: its list of phases, its flags; and its trace.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/crash/crash_flags.h"
#include "common/crash/phases.h"
#include "common/crash/trace.h"
#include "common/spec/config.h"

namespace kvmatrix {
namespace {

TEST(PhasesTest, AreReadInOrder) {
  const std::vector<Phase> phases = ParsePhases("close:1,first:1000000,fill:7");
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[0].kind, PhaseKind::kClose);
  EXPECT_EQ(phases[0].count, 1u);
  EXPECT_EQ(phases[1].kind, PhaseKind::kFirst);
  EXPECT_EQ(phases[1].count, 1'000'000u);
  EXPECT_EQ(phases[2].kind, PhaseKind::kFill);
  EXPECT_EQ(phases[2].count, 7u);
}

TEST(PhasesTest, EachNameIsItsKind) {
  const std::vector<Phase> phases = ParsePhases(
      "first:1,single:2,batch:3,cover:4,growth:5,settle:6,compact:7,close:8,"
      "fill:9");
  ASSERT_EQ(phases.size(), 9u);
  for (size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(phases[i].kind), i);
    EXPECT_EQ(phases[i].count, i + 1);
  }
}

TEST(PhasesTest, AnythingElseIsRefusedWithItsWord) {
  for (const char* list :
       {"", ",", "single", "single:", "single:0", "single:-1", "single:1x",
        "single:1.5", "single:1000001", "single:99999999999999999999",
        "singles:1", ":1", "single:1,,close:1", "Single:1"}) {
    try {
      ParsePhases(list);
      ADD_FAILURE() << "'" << list << "'";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("phases"), std::string::npos);
    }
  }
}

TEST(CrashFlagsTest, AreTakenFromTheWords) {
  std::vector<const char*> words = {"--num=5",
                                    "--crash_test=audit",
                                    "-trace=t",
                                    "--cut_ns=7",
                                    "--cut_end_ns=18446744073709551615",
                                    "--phases=fill:1",
                                    "trace=other"};
  const CrashFlags flags = TakeCrashFlags(words);
  EXPECT_EQ(flags.test, CrashTest::kAudit);
  EXPECT_EQ(flags.trace, "t");
  EXPECT_EQ(flags.phases, "fill:1");
  EXPECT_EQ(flags.cut_ns, 7u);
  EXPECT_EQ(flags.cut_end_ns, UINT64_MAX);
  EXPECT_EQ(flags.crash_after, 0u);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_STREQ(words[0], "--num=5");
  EXPECT_STREQ(words[1], "trace=other");
}

TEST(CrashFlagsTest, WithoutThemNothingIsTaken) {
  std::vector<const char*> words = {"--num=5", "--crash_tests=write"};
  EXPECT_EQ(TakeCrashFlags(words).test, CrashTest::kNone);
  EXPECT_EQ(words.size(), 2u);
}

TEST(CrashFlagsTest, TheDefaultPhasesAreValid) {
  std::vector<const char*> words = {"--crash_test=write", "--trace=t"};
  const CrashFlags flags = TakeCrashFlags(words);
  EXPECT_EQ(flags.test, CrashTest::kWrite);
  EXPECT_EQ(ParsePhases(flags.phases).size(), 8u);
}

TEST(CrashFlagsTest, AreRefusedIfWrongOrAlone) {
  for (const std::vector<const char*>& wrong :
       {std::vector<const char*>{"--trace=t"},
        {"--crash_test=audit"},
        {"--crash_test=nonsense", "--trace=t"},
        {"--crash_test=write", "--trace=t", "--cut_ns=x"},
        {"--crash_test=write", "--trace=t", "--cut_ns=-1"},
        {"--crash_test=write", "--trace=t", "--cut_ns=18446744073709551616"},
        {"--crash_test=write", "--trace="},
        {"--crash_test=write", "--trace"}}) {
    std::vector<const char*> words = wrong;
    EXPECT_THROW(TakeCrashFlags(words), UsageError) << words.back();
  }
}

class TraceTest : public testing::Test {
 protected:
  ~TraceTest() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_ =
      testing::TempDir() + "trace." + std::to_string(getpid());
};

TEST_F(TraceTest, IsReadAsItWasWritten) {
  const TraceRecord commit = {.commit = 7,
                              .kind = TraceKind::kAcknowledged,
                              .phase = 2,
                              .updates = 100,
                              .value_bytes = 4096,
                              .durable = 1,
                              .extra = 88};
  Trace trace(path_, 301);
  trace.Add(commit);
  trace.Add({.kind = TraceKind::kDone});
  const std::vector<TraceRecord> records = ReadTrace(path_);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kind, TraceKind::kHeader);
  EXPECT_EQ(records[0].commit, 301u);
  const TraceRecord& read = records[1];
  EXPECT_EQ(read.commit, commit.commit);
  EXPECT_EQ(read.kind, commit.kind);
  EXPECT_EQ(read.phase, commit.phase);
  EXPECT_EQ(read.updates, commit.updates);
  EXPECT_EQ(read.value_bytes, commit.value_bytes);
  EXPECT_EQ(read.durable, commit.durable);
  EXPECT_EQ(read.extra, commit.extra);
  EXPECT_GT(read.at_ns, 0u);
  EXPECT_GE(records[2].at_ns, read.at_ns);
  EXPECT_EQ(records[2].kind, TraceKind::kDone);
}

TEST_F(TraceTest, IsThereBeforeItsWriterHasEnded) {
  Trace trace(path_, 1);
  trace.Add({.kind = TraceKind::kOpened});
  EXPECT_EQ(std::filesystem::file_size(path_), 2 * sizeof(TraceRecord));
}

TEST_F(TraceTest, AnIncompleteLastRecordIsLeftOut) {
  {
    Trace(path_, 1).Add({.kind = TraceKind::kOpened});
  }
  for (uint64_t size = sizeof(TraceRecord); size < 2 * sizeof(TraceRecord);
       ++size) {
    std::filesystem::resize_file(path_, size);
    EXPECT_EQ(ReadTrace(path_).size(), 1u) << size;
  }
}

TEST_F(TraceTest, ANewOneReplacesAnOldOne) {
  {
    Trace(path_, 1).Add({.kind = TraceKind::kOpened});
  }
  const Trace trace(path_, 2);
  const std::vector<TraceRecord> records = ReadTrace(path_);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].commit, 2u);
}

TEST_F(TraceTest, WhatIsNoTraceIsRefused) {
  EXPECT_THROW(ReadTrace(path_), std::runtime_error);  // no file
  std::ofstream(path_) << "";
  EXPECT_THROW(ReadTrace(path_), std::runtime_error);
  std::ofstream(path_) << std::string(sizeof(TraceRecord), 'x');
  EXPECT_THROW(ReadTrace(path_), std::runtime_error);
  EXPECT_THROW(Trace("/nowhere/at/all", 1), std::system_error);
}

}  // namespace
}  // namespace kvmatrix
