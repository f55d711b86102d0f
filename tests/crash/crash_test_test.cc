// A writer and an audit in one process, with losses made by hand.

#include "common/crash/crash_test.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/crash/trace.h"

namespace kvmatrix {
namespace {

class CrashTestTest : public testing::Test {
 protected:
  CrashTestTest() {
    std::string name = testing::TempDir() + "crash-XXXXXX";
    folder_ = mkdtemp(name.data());
    config_.db = folder_ / "db";
    config_.durability = Durability::kDurable;
    std::filesystem::create_directory(config_.db);
    flags_.trace = folder_ / "trace";
    flags_.phases = "first:3,single:10,batch:2,cover:1,close:4";
  }
  ~CrashTestTest() override { std::filesystem::remove_all(folder_); }

  // Returns the objects that were printed.
  std::vector<nlohmann::json> Run(CrashTest test) {
    flags_.test = test;
    std::vector<nlohmann::json> lines;
    exit_status_ = RunCrashTest(kDriver, config_, flags_,
                                [&lines](const std::string& line) {
                                  lines.push_back(nlohmann::json::parse(line));
                                });
    return lines;
  }

  nlohmann::json Audit() {
    flags_.cut_ns = flags_.cut_end_ns - 1;
    return Run(CrashTest::kAudit).at(0);
  }

  // Cuts the last bytes off the log of the memory engine.
  void Shorten(uintmax_t bytes) {
    const auto log = config_.db / "log";
    std::filesystem::resize_file(log, std::filesystem::file_size(log) - bytes);
  }

  std::filesystem::path folder_;
  Config config_;
  CrashFlags flags_;
  int exit_status_ = -1;
};

TEST_F(CrashTestTest, NothingIsMissingFromAWholeDatabase) {
  const auto described = Run(CrashTest::kWrite).at(0);
  EXPECT_EQ(exit_status_, 0);
  EXPECT_EQ(described["engine"], "memory");
  EXPECT_EQ(described["promise"], "loses nothing acknowledged");
  const auto answer = Audit();
  EXPECT_EQ(exit_status_, 0);
  EXPECT_EQ(answer["prefix"], answer["acknowledged"]);
  EXPECT_EQ(answer["begun"], answer["acknowledged"]);
  EXPECT_EQ(answer["entries"], answer["expected_entries"]);
  EXPECT_EQ(answer["covered"], true);
  for (const char* key : {"lost", "missing", "foreign", "torn_batches"})
    EXPECT_EQ(answer[key], 0) << key;
  for (const char* key :
       {"open_error", "read_error", "write_error", "reopen_error"})
    EXPECT_EQ(answer[key], "") << key;
  auto again = Audit();  // in which probes of the first one are found
  again["open_ns"] = answer["open_ns"];
  EXPECT_EQ(again, answer);
}

TEST_F(CrashTestTest, TheLastCommitIsMissingWithItsBytes) {
  Run(CrashTest::kWrite);
  const std::vector<TraceRecord> records = ReadTrace(flags_.trace);
  ASSERT_EQ(records.back().kind, TraceKind::kDone);
  Shorten(2 * sizeof(uint32_t) + 16 + 100);  // of a put
  const auto answer = Audit();
  ASSERT_EQ(answer["open_error"], "");  // the last one of this seed is a put
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
  Shorten(1);
  const auto answer = Audit();
  EXPECT_EQ(exit_status_, 0);
  EXPECT_NE(answer["open_error"], "");
}

TEST_F(CrashTestTest, AChangedByteIsForeign) {
  Run(CrashTest::kWrite);
  std::fstream log(config_.db / "log",
                   std::ios::binary | std::ios::in | std::ios::out);
  log.seekp(-1, std::ios::end);
  log.put('!');
  log.close();
  EXPECT_EQ(Audit()["foreign"], 1);
}

TEST_F(CrashTestTest, AnUnknownPhaseIsRefused) {
  flags_.phases = "single:5,nonsense:3";
  EXPECT_THROW(Run(CrashTest::kWrite), UsageError);
  flags_.phases = "single";
  EXPECT_THROW(Run(CrashTest::kWrite), UsageError);
}

TEST(CrashFlagsTest, AreTakenFromTheWords) {
  std::vector<const char*> words = {"--num=5", "--crash_test=audit", "-trace=t",
                                    "--cut_ns=7"};
  const CrashFlags flags = TakeCrashFlags(words);
  EXPECT_EQ(flags.test, CrashTest::kAudit);
  EXPECT_EQ(flags.cut_ns, 7u);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_STREQ(words[0], "--num=5");
}

TEST(CrashFlagsTest, AreRefusedIfWrongOrAlone) {
  for (const std::vector<const char*>& wrong :
       {std::vector<const char*>{"--trace=t"},
        {"--crash_test=audit"},
        {"--crash_test=nonsense", "--trace=t"},
        {"--crash_test=write", "--trace=t", "--cut_ns=x"},
        {"--crash_test=write", "--trace"}}) {
    std::vector<const char*> words = wrong;
    EXPECT_THROW(TakeCrashFlags(words), UsageError) << words.back();
  }
}

}  // namespace
}  // namespace kvmatrix
