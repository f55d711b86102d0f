// What Settle() and Compact() promise: the one waits until the engine is idle,
// the other rewrites the database.  Built once for each driver, like
// driver_test.cc.

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "common/driver.h"
#include "common/timing/resources.h"
#include "tests/conformance/model.h"

namespace kvmatrix {
namespace {

using std::chrono::milliseconds;

constexpr int kEntries = 40'000;
constexpr int kBatch = 100;
constexpr size_t kValueBytes = 1'000;
// Threads of an engine that is idle may still wake up.
constexpr uint64_t kIdleNs = 4'000'000;
constexpr auto kWatched = milliseconds(40);

Options Asynchronous() {
  return {.path = {},
          .cache_size = 4 << 20,
          .compression = true,
          .durability = Durability::kBuffered};
}

std::string KeyOf(uint64_t i) { return std::to_string(10'000'000 + i); }

// Writes `entries` random keys, in batches, with values that cannot be
// compressed: many memtables, tables and checkpoints.
void Fill(ModelledDatabase& db, int entries) {
  std::mt19937_64 engine(301);
  std::vector<std::string> keys(kBatch), values(kBatch);
  std::vector<Update> batch(kBatch);
  for (int i = 0; i < entries / kBatch; ++i) {
    for (int j = 0; j < kBatch; ++j) {
      keys[j] = KeyOf(engine() % kEntries);
      values[j].resize(kValueBytes);
      for (char& byte : values[j]) byte = static_cast<char>(engine());
      batch[j] = {keys[j], values[j]};
    }
    WriteAll(db.session(), db.limits(), batch);
  }
}

// Returns the processor time of this process during `action`.
template <typename Action>
uint64_t CpuNs(Action action) {
  const Resources before = Resources::Now();
  action();
  return Resources::Now().Since(before).cpu_ns();
}

using Files = std::map<std::string, uint64_t>;  // name to bytes
Files FilesOf(const ModelledDatabase& db) {
  Files files;
  for (const auto& file :
       std::filesystem::directory_iterator(db.options().path)) {
    if (file.is_regular_file()) files[file.path()] = file.file_size();
  }
  return files;
}

class DriverSettleTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
    // Of an engine that has such a flag: the tests write several memtables, the
    // file is several steps long, and pages suit the cache.
    gflags::SetCommandLineOption("write_buffer_size", "1048576");
    gflags::SetCommandLineOption("growth_step", "1048576");
    gflags::SetCommandLineOption("leaf_page_max", "4096");
    gflags::SetCommandLineOption("memory_page_max", "131072");
  }
  gflags::FlagSaver flags_;
};

TEST_F(DriverSettleTest, IsIdleAfterwards) {
  ModelledDatabase db(Asynchronous());
  for (int round = 0; round < 3; ++round) {
    Fill(db, kEntries);
    db.database().Flush();
    db.database().Settle();
    const Files settled = FilesOf(db);
    EXPECT_LT(CpuNs([] { std::this_thread::sleep_for(kWatched); }), kIdleNs);
    EXPECT_EQ(FilesOf(db), settled);
  }
}

TEST_F(DriverSettleTest, HasNothingToDoASecondTime) {
  ModelledDatabase db(Asynchronous());
  Fill(db, kEntries);
  db.database().Flush();
  db.database().Settle();
  EXPECT_LT(CpuNs([&] { db.database().Settle(); }), kIdleNs);
  EXPECT_LT(CpuNs([] { std::this_thread::sleep_for(kWatched); }), kIdleNs);
}

// Few entries are no work that is due: what holds them stays as it is.
TEST_F(DriverSettleTest, DoesNotReorganise) {
  const auto names = [](const ModelledDatabase& db) {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : FilesOf(db)) names.push_back(name);
    return names;
  };
  // Of an engine that makes checkpoints by the clock, each with a new log.
  gflags::SetCommandLineOption("wal_new_file_on_checkpoint", "false");
  ModelledDatabase db(Asynchronous());
  for (int round = 0; round < 3; ++round) {
    Fill(db, kBatch);
    db.database().Flush();
    const auto before = names(db);
    db.database().Settle();
    EXPECT_EQ(names(db), before);
  }
}

TEST_F(DriverSettleTest, IsIdleAfterCompact) {
  ModelledDatabase db(Asynchronous());
  Fill(db, kEntries);
  if (const auto why = WhyNotCompacted(db.database())) GTEST_SKIP() << *why;
  db.database().Flush();
  db.database().Settle();
  EXPECT_LT(CpuNs([&] { db.database().Settle(); }), kIdleNs);
  EXPECT_LT(CpuNs([] { std::this_thread::sleep_for(kWatched); }), kIdleNs);
}

// The file of an engine that updates in place does not shrink by itself.
TEST_F(DriverSettleTest, CompactReturnsTheSpaceOfDeletedEntries) {
  if (std::string_view(kDriver.name) == "memory") GTEST_SKIP() << "keeps a log";
  ModelledDatabase db(Asynchronous());
  Fill(db, kEntries);
  db.database().Settle();
  db.Close();
  const uint64_t full = db.DiskBytes();
  db.Open();
  for (int i = 0; i < kEntries; i += kBatch) {
    std::vector<std::string> keys;
    for (int j = 1; j < kBatch; ++j) keys.push_back(KeyOf(i + j));
    std::vector<Update> deletes;
    for (const std::string& key : keys) deletes.push_back({key, std::nullopt});
    WriteAll(db.session(), db.limits(), deletes);
  }
  if (const auto why = WhyNotCompacted(db.database())) GTEST_SKIP() << *why;
  db.database().Settle();
  db.Close();
  EXPECT_LT(db.DiskBytes(), full / 4)
      << "an engine that gives no space back throws Unsupported in Compact()";
}

// Directories take the names of the tables that LevelDB, RocksDB and Badger
// (000001.sst), fjall (0) and SurrealKV write next.
void TakeNames(const std::filesystem::path& path) {
  for (int number = 0; number < 1'000; ++number) {
    const std::string digits = std::to_string(1'000'000 + number).substr(1);
    for (const std::filesystem::path& name :
         {path / (digits + ".ldb"), path / (digits + ".sst"),
          path / "keyspaces/1/tables" / std::to_string(number),
          path / "sstables" / (std::string(14, '0') + digits + ".sst")}) {
      if (exists(name.parent_path())) create_directory(name);
    }
  }
}

// The background work of these engines fails; another engine does not notice.
TEST_F(DriverSettleTest, EndsAfterAnErrorInTheBackground) {
  ModelledDatabase db(Asynchronous());
  TakeNames(db.options().path);
  bool failed = false;
  try {
    Fill(db, 2'000);
    db.database().Flush();
    db.database().Settle();
  } catch (const std::runtime_error& error) {
    failed = true;
  }
  bool has_tables = false;
  for (const char* name : {"CURRENT", "MANIFEST", "keyspaces", "sstables"}) {
    has_tables = has_tables || exists(db.options().path / name);
  }
  EXPECT_EQ(failed, has_tables);
  try {
    db.database().Settle();
    EXPECT_FALSE(failed) << "the second call has lost the error";
  } catch (const std::runtime_error&) {
  }
}

}  // namespace
}  // namespace kvmatrix
