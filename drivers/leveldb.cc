// LevelDB: a log-structured merge tree.  https://github.com/google/leveldb

#include "common/driver.h"
#include "drivers/crc32c/crc32c.h"
#include "drivers/leveldb_background.h"
#include "drivers/options/leveldb_options.h"
#include "leveldb/db.h"
#include "leveldb/write_batch.h"

namespace kvmatrix {
namespace {

// "The downside of asynchronous writes is that a crash of the machine may cause
// the last few updates to be lost."
constexpr char kDocument[] =
    "https://github.com/google/leveldb/blob/1.23/doc/index.md"
    "#synchronous-writes";

leveldb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }
std::string_view ToView(leveldb::Slice s) { return {s.data(), s.size()}; }

void Check(const leveldb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

class LevelDbSession final : public Session {
 public:
  LevelDbSession(leveldb::DB* db, bool sync) : db_(db) {
    write_.sync = sync;
    read_.verify_checksums = FLAGS_verify_checksums;
  }

  void SetDurable(bool durable) override { write_.sync = durable; }

  void Write(std::span<const Update> batch) override {
    batch_.Clear();
    for (const auto& [key, value] : batch) {
      value ? batch_.Put(ToSlice(key), ToSlice(*value))
            : batch_.Delete(ToSlice(key));
    }
    Check(db_->Write(write_, &batch_));
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    const auto status = db_->Get(read_, ToSlice(key), &value_);
    if (status.IsNotFound()) return std::nullopt;
    Check(status);
    return value_;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(read_));
    it->Seek(ToSlice(start));
    const bool forward = order == Order::kForward;
    // Seek() lands at or after `start`; a backward scan begins at or before it.
    if (!forward && (start.empty() || !it->Valid())) {
      it->SeekToLast();
    } else if (!forward && it->key() != ToSlice(start)) {
      it->Prev();
    }
    while (it->Valid() && visit(ToView(it->key()), ToView(it->value()))) {
      forward ? it->Next() : it->Prev();
    }
    Check(it->status());
  }

 private:
  leveldb::DB* const db_;
  leveldb::WriteOptions write_;
  leveldb::ReadOptions read_;
  leveldb::WriteBatch batch_;  // a member, like value_, to reuse its memory
  std::string value_;
};

class LevelDb final : public Database {
 public:
  explicit LevelDb(const Options& options)
      : sync_(options.durability == Durability::kDurable), tuned_(options) {
    tuned_.db.env = work_.env();
    leveldb::DB* opened = nullptr;
    Check(leveldb::DB::Open(tuned_.db, options.path.string(), &opened));
    db_.reset(opened);
    tuned_.Record("sync", AsText(sync_));
    tuned_.settings["fast_crc32"] = AsText(crc32c::InUse());
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LevelDbSession>(db_.get(), sync_);
  }
  void Flush() override {}  // Write() has handed everything over
  void Settle() override {
    do {
      work_.Wait();
      // Throws the error of the background work.  It may also fill a memtable.
      NewSession()->Write({});
    } while (!work_.IsIdle());
  }
  void Compact() override {
    db_->CompactRange(nullptr, nullptr);
    Settle();  // a last level that has outgrown its limit is then moved down
  }
  Settings EffectiveSettings() override { return tuned_.settings; }

 private:
  const bool sync_;
  const BackgroundWork work_;  // outlives db_,
  TunedOptions tuned_;         // like this
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

const Driver kDriver = {
    .name = "leveldb",
    .licence = "BSD-3-Clause",
    .codec = "snappy",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNothing, kDocument}}};
        },
    .version =
        [] {
          return std::to_string(leveldb::kMajorVersion) + "." +
                 std::to_string(leveldb::kMinorVersion);
        },
    .code = reinterpret_cast<const void*>(&leveldb::DestroyDB),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<LevelDb>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
