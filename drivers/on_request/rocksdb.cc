// RocksDB: a log-structured merge tree.  https://github.com/facebook/rocksdb

#include <rocksdb/db.h>

#include <thread>

#include "common/driver.h"
#include "drivers/options/rocksdb_options.h"

#ifndef ROCKSDB_NAME
#define ROCKSDB_NAME "rocksdb"  // another with another build of the library
#endif

namespace rocksdb::crc32c {
std::string IsFastCrc32Supported();  // exported, but not in a public header
}

namespace kvmatrix {
namespace {

// kPointInTimeRecovery, the default: "The system is recovered to a
// point-in-time where it is consistent."
constexpr char kRecovery[] =
    "https://github.com/facebook/rocksdb/wiki/WAL-Recovery-Modes";
// sync, and disableWAL: "the write may get lost after a crash", any of them.
constexpr char kWriteOptions[] =
    "https://github.com/facebook/rocksdb/blob/v11.8.1/include/rocksdb/"
    "options.h";

// RocksDB 7.8, which the distribution has, returns a raw pointer.
rocksdb::Status Open(const rocksdb::Options& options, const std::string& path,
                     std::unique_ptr<rocksdb::DB>& db) {
#if ROCKSDB_MAJOR < 10
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::Open(options, path, &opened);
  db.reset(opened);
  return status;
#else
  return rocksdb::DB::Open(options, path, &db);
#endif
}

rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }

class RocksDbSession final : public Session {
 public:
  RocksDbSession(rocksdb::DB* db, bool sync) : db_(db) {
    RocksDbSession::SetDurable(sync);
    if (!FLAGS_engine_defaults) read_.verify_checksums = FLAGS_verify_checksum;
  }

  void Write(std::span<const Update> batch) override {
    batch_.Clear();
    for (const auto& [key, value] : batch) {
      Check(value ? batch_.Put(ToSlice(key), ToSlice(*value))
                  : batch_.Delete(ToSlice(key)));
    }
    Check(db_->Write(write_, &batch_));
  }

  void SetDurable(bool durable) override {
    write_.sync = durable;
    write_.disableWAL = DisablesWal() && !durable;
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    value_.Reset();
    const auto status =
        db_->Get(read_, db_->DefaultColumnFamily(), ToSlice(key), &value_);
    if (status.IsNotFound()) return std::nullopt;
    Check(status);
    return value_.ToStringView();
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read_));
    const bool forward = order == Order::kForward;
    if (forward) {
      it->Seek(ToSlice(start));
    } else {
      start.empty() ? it->SeekToLast() : it->SeekForPrev(ToSlice(start));
    }
    while (it->Valid() &&
           visit(it->key().ToStringView(), it->value().ToStringView())) {
      forward ? it->Next() : it->Prev();
    }
    Check(it->status());
  }

 private:
  rocksdb::DB* const db_;
  rocksdb::WriteOptions write_;
  rocksdb::ReadOptions read_;
  rocksdb::WriteBatch batch_;  // a member, like value_, to reuse its memory
  rocksdb::PinnableSlice value_;
};

class RocksDb final : public Database {
 public:
  explicit RocksDb(const Options& options)
      : sync_(options.durability == Durability::kDurable) {
    if (DisablesWal() && options.durability != Durability::kBuffered)
      throw Unsupported("--disable_wal: only with --durability=buffered");
    rocksdb::Options requested;
    requested.create_if_missing = true;
    SetCompression(requested, options.compression);
    if (!FLAGS_engine_defaults) Tune(requested, options.cache_size);
    const auto status = Open(requested, options.path.string(), db_);
    // Such as direct I/O in a file system that has none.
    if (status.IsNotSupported() || status.IsInvalidArgument())
      throw Unsupported(status.ToString());
    Check(status);
    settings_ = Describe(db_->GetOptions());
    for (const auto& [name, value] :
         Describe(requested))  // RocksDB clips silently
      if (settings_[name] != value)
        throw std::range_error(name + " is " + settings_[name] + ", not " +
                               value + " as requested");
    const bool verify = FLAGS_engine_defaults || FLAGS_verify_checksum;
    settings_["fast_crc32"] = rocksdb::crc32c::IsFastCrc32Supported();
    settings_["verify_checksum"] = AsRequested(verify);
    settings_["sync"] = AsRequested(sync_);
    settings_["disable_wal"] = AsRequested(DisablesWal());
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<RocksDbSession>(db_.get(), sync_);
  }

  void Flush() override {  // Write() has handed the rest over
    if (FLAGS_manual_wal_flush) Check(db_->FlushWAL(/*sync=*/false));
    if (DisablesWal()) Check(db_->Flush({}));
  }
  void Settle() override {
    // A job that is due starts at once.  RocksDB 7.8 cannot wait for it, and
    // later releases do so in a call that has no such limit.
    int polls = 0;
    while (const Work work = WorkLeft()) {
      if (polls = work.running > 0 ? 0 : polls + 1; polls > kMostPolls)
        throw std::runtime_error("work that is due is not started");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    RequireHealthy();
  }
  void Compact() override {
    Check(db_->Flush({}));
    Check(db_->CompactRange({}, nullptr, nullptr));
    Settle();  // the last level may have outgrown its limit
  }
  Settings EffectiveSettings() override { return settings_; }

 private:
  // Of flushes and compactions, as RocksDB counts it.
  struct Work {
    uint64_t due, running;
    explicit operator bool() const { return due + running > 0; }
  };
  static constexpr int kMostPolls = 10'000;  // about ten seconds

  uint64_t Property(const std::string& name) const {
    uint64_t value = 0;
    if (db_->GetIntProperty(name, &value)) return value;
    throw std::runtime_error("RocksDB does not report " + name);
  }

  // A compaction stays due for ever if it may not be started.
  Work WorkLeft() {
    using P = rocksdb::DB::Properties;
    RequireHealthy();
    const bool compacts = !db_->GetOptions().disable_auto_compactions;
    return {.due = Property(P::kNumImmutableMemTable) +
                   (compacts ? Property(P::kCompactionPending) : 0),
            .running = Property(P::kNumRunningFlushes) +
                       Property(P::kNumRunningCompactions)};
  }

  // After an error in the background RocksDB may start no more work.
  void RequireHealthy() {
    if (Property(rocksdb::DB::Properties::kBackgroundErrors) == 0) return;
    NewSession()->Write({});  // throws that error, unless it was recovered from
    throw std::runtime_error("an error in the background; see RocksDB's LOG");
  }

  static std::string AsRequested(bool on) {
    return on ? "true (as requested)" : "false (as requested)";
  }

  const bool sync_;
  Settings settings_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

const Driver kDriver = {
    .name = ROCKSDB_NAME,
    .licence = "Apache-2.0",
    .codec = "snappy",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          if (DisablesWal())
            return Guarantees{{{Promise::kMayBeCorrupt, kWriteOptions}}};
          return Guarantees{{{Promise::kLosesNewest, kRecovery},
                             {Promise::kLosesNewest, kRecovery},
                             {Promise::kLosesNothing, kWriteOptions}}};
        },
    .version = [] { return rocksdb::GetRocksVersionAsString(); },
    .code = reinterpret_cast<const void*>(&rocksdb::GetRocksVersionAsString),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<RocksDb>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
