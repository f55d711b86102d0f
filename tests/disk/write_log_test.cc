#include "common/disk/write_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include <string>
#include <system_error>

#include "tests/disk/log_file.h"

namespace kvmatrix {
namespace {

enum Field { kSector, kSectors, kFlags, kDataBytes, kAtNs };
enum SuperField { kMagic, kVersion, kEntries, kLogSectorBytes };

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

// The constants are those of the kernel's drivers/md/dm-log-writes.c.
TEST(WriteLog, BeginsWithTheSuperBlockOfDmLogWrites) {
  const LogFile file;
  WriteLog log(file.path());
  EXPECT_EQ(file.Sectors(), 1u);
  EXPECT_EQ(file.Field(0, kMagic), 0x6a736677736872u);
  EXPECT_EQ(file.Field(0, kVersion), 1u);
  EXPECT_EQ(file.Field(0, kEntries), 0u);
  EXPECT_EQ(file.Field(0, kLogSectorBytes), 512u);  // and padding of zeros
}

TEST(WriteLog, AWriteIsASectorThatDescribesItAndItsBytes) {
  const LogFile file;
  WriteLog log(file.path());
  const std::string data = std::string(512, 'a') + std::string(512, 'b');
  const uint64_t before = NowNs();
  log.Append(LogEvent::kWrite, 4096, data.size(), data);
  EXPECT_EQ(file.Sectors(), 4u);
  EXPECT_EQ(file.Field(1, kSector), 8u);
  EXPECT_EQ(file.Field(1, kSectors), 2u);
  EXPECT_EQ(file.Field(1, kFlags), 0u);
  EXPECT_EQ(file.Field(1, kDataBytes), 0u);
  EXPECT_GE(file.Field(1, kAtNs), before);
  EXPECT_LE(file.Field(1, kAtNs), NowNs());
  EXPECT_EQ(file.Bytes().substr(2 * kSectorBytes), data);
}

TEST(WriteLog, FlushesAndDiscardsHaveNoBytes) {
  const LogFile file;
  WriteLog log(file.path());
  log.Append(LogEvent::kFlush, 0, 0, {});
  log.Append(LogEvent::kDiscard, 1024, 1 << 20, {});
  EXPECT_EQ(file.Sectors(), 3u);
  EXPECT_EQ(file.Field(1, kFlags), 1u);
  EXPECT_EQ(file.Field(1, kSectors), 0u);
  EXPECT_EQ(file.Field(2, kFlags), 4u);
  EXPECT_EQ(file.Field(2, kSector), 2u);
  EXPECT_EQ(file.Field(2, kSectors), 2048u);
}

TEST(WriteLog, TimesNeverDecrease) {
  const LogFile file;
  WriteLog log(file.path());
  for (int i = 0; i < 50; ++i) log.Append(LogEvent::kFlush, 0, 0, {});
  for (uint64_t i = 2; i <= 50; ++i)
    EXPECT_GE(file.Field(i, kAtNs), file.Field(i - 1, kAtNs)) << i;
}

TEST(WriteLog, TheEndCountsTheEntries) {
  const LogFile file;
  WriteLog log(file.path());
  for (int i = 0; i < 3; ++i) log.Append(LogEvent::kFlush, 0, 0, {});
  EXPECT_EQ(file.Field(0, kEntries), 0u);
  log.Finish();
  EXPECT_EQ(log.entries(), 3u);
  EXPECT_EQ(file.Field(0, kEntries), 3u);
  EXPECT_EQ(file.Sectors(), 4u);
}

TEST(WriteLog, AnOldLogIsReplaced) {
  const LogFile file;
  {
    WriteLog old(file.path());
    for (int i = 0; i < 3; ++i) old.Append(LogEvent::kFlush, 0, 0, {});
    old.Finish();
  }
  WriteLog log(file.path());
  EXPECT_EQ(file.Sectors(), 1u);
  EXPECT_EQ(file.Field(0, kEntries), 0u);
}

TEST(WriteLog, AFileThatCannotBeMadeIsNamed) {
  try {
    WriteLog log("/nowhere/at/all");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"),
              std::string::npos);
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

// Lets no file of this process grow beyond some bytes; without it again after
// the test.
class SmallFiles {
 public:
  explicit SmallFiles(uint64_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limits_);
    const rlimit lower = {bytes, limits_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &limits_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit limits_;
  void (*handler_)(int);
};

TEST(WriteLog, WhatDoesNotFitIsNotInTheLog) {
  const LogFile file;
  WriteLog log(file.path());
  const std::string data(4096, 'x');
  {
    // Room for one entry, and for the beginning of another.
    const SmallFiles limit(kSectorBytes + (kSectorBytes + data.size()) + 1500);
    log.Append(LogEvent::kWrite, 0, data.size(), data);
    EXPECT_THROW(log.Append(LogEvent::kWrite, 4096, data.size(), data),
                 std::system_error);
  }
  EXPECT_EQ(file.Sectors(), 10u);
  log.Finish();
  EXPECT_EQ(file.Field(0, kEntries), 1u);
  // It goes on where the last whole entry ends.
  log.Append(LogEvent::kFlush, 0, 0, {});
  EXPECT_EQ(file.Sectors(), 11u);
  EXPECT_EQ(file.Field(10, kFlags), 1u);
}

}  // namespace
}  // namespace kvmatrix
