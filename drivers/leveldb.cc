// LevelDB: a log-structured merge tree.  https://github.com/google/leveldb

#include <gflags/gflags.h>

#include "common/driver.h"
#include "drivers/leveldb_background.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"

DEFINE_uint64(write_buffer_size, 0,
              "size of the memtable, in bytes; 0 means LevelDB's 4 MiB");
DEFINE_uint64(max_file_size, 0,
              "size of a table file, in bytes; 0 means LevelDB's 2 MiB");
DEFINE_uint64(block_size, 0,
              "size of a table block, in bytes; 0 means LevelDB's 4 KiB");
DEFINE_uint64(open_files, 0, "files kept open; 0 means LevelDB's 1000");
DEFINE_int32(bloom_bits, -1,
             "Bloom filter bits per key; negative means no filter");

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
  LevelDbSession(leveldb::DB* db, bool sync) : db_(db) { write_.sync = sync; }

  void Write(std::span<const Update> batch) override {
    batch_.Clear();
    for (const auto& [key, value] : batch) {
      value ? batch_.Put(ToSlice(key), ToSlice(*value))
            : batch_.Delete(ToSlice(key));
    }
    Check(db_->Write(write_, &batch_));
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    const auto status = db_->Get({}, ToSlice(key), &value_);
    if (status.IsNotFound()) return std::nullopt;
    Check(status);
    return value_;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    std::unique_ptr<leveldb::Iterator> it(db_->NewIterator({}));
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
  leveldb::WriteBatch batch_;  // a member, like value_, to reuse its memory
  std::string value_;
};

class LevelDb final : public Database {
 public:
  explicit LevelDb(const Options& options)
      : sync_(options.durability == Durability::kDurable),
        cache_(leveldb::NewLRUCache(options.cache_size)) {
    Record("cache_size", std::to_string(options.cache_size));
    Record("compression", options.compression ? "snappy" : "none");
    Record("sync", sync_ ? "true" : "false");
    Record("bloom_bits", std::to_string(FLAGS_bloom_bits));
    leveldb::Options db;
    db.env = work_.env();
    db.create_if_missing = true;
    db.block_cache = cache_.get();
    if (!options.compression) db.compression = leveldb::kNoCompression;
    // The ranges to which SanitizeOptions() in db/db_impl.cc clips.
    Set(db.write_buffer_size, "write_buffer_size", FLAGS_write_buffer_size,
        64 << 10, 1 << 30);
    Set(db.max_file_size, "max_file_size", FLAGS_max_file_size, 1 << 20,
        1 << 30);
    Set(db.block_size, "block_size", FLAGS_block_size, 1 << 10, 4 << 20);
    Set(db.max_open_files, "open_files", FLAGS_open_files, 74, 50000);
    if (FLAGS_bloom_bits >= 0)
      filter_.reset(leveldb::NewBloomFilterPolicy(FLAGS_bloom_bits));
    db.filter_policy = filter_.get();
    leveldb::DB* opened = nullptr;
    Check(leveldb::DB::Open(db, options.path.string(), &opened));
    db_.reset(opened);
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
  using Settings = std::map<std::string, std::string>;
  Settings EffectiveSettings() override { return settings_; }

 private:
  void Record(const char* name, const std::string& value) {
    settings_[name] = value + " (as requested)";
  }

  // LevelDB clips options silently and does not report them: refuses values
  // that it would clip.
  template <typename T>
  void Set(T& option, const char* name, uint64_t value, uint64_t low,
           uint64_t high) {
    if (value != 0 && (value < low || value > high)) {
      throw std::range_error("--" + std::string(name) + ": LevelDB accepts " +
                             std::to_string(low) + " to " +
                             std::to_string(high) + ", not " +
                             std::to_string(value));
    }
    if (value != 0) option = static_cast<T>(value);
    Record(name, std::to_string(option));
  }

  const bool sync_;
  Settings settings_;
  const BackgroundWork work_;                    // outlives db_,
  const std::unique_ptr<leveldb::Cache> cache_;  // like this and filter_
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

const Driver kDriver = {
    .name = "leveldb",
    .licence = "BSD-3-Clause",
    .codec = "snappy",
    .ordered = true,
    .stores = true,
    .guarantees = {{{Promise::kLosesNewest, kDocument},
                    {Promise::kLosesNewest, kDocument},
                    {Promise::kLosesNothing, kDocument}}},
    .version =
        [] {
          return std::to_string(leveldb::kMajorVersion) + "." +
                 std::to_string(leveldb::kMinorVersion);
        },
    .code = reinterpret_cast<const void*>(&leveldb::DestroyDB),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<LevelDb>(options);
    }};

}  // namespace kvmatrix
