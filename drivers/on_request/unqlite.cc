// UnQLite: a hash table on disk, with transactions.  https://unqlite.org

#include <gflags/gflags.h>
#include <unqlite.h>

#include <algorithm>
#include <memory>

#include "common/driver.h"

DEFINE_uint64(commit_interval, 0,
              "unless writes are durable: commit after this many updates; 0 "
              "means only where the harness asks for a flush");
DEFINE_bool(journal, true,
            "keep a journal, without which a crash during a commit may "
            "corrupt the database (UNQLITE_OPEN_OMIT_JOURNALING)");
DEFINE_bool(mmap, false, "map the file to read it (UNQLITE_OPEN_MMAP)");

namespace kvmatrix {
namespace {

// "Make sure that all changes reaches the disk surface"; without a commit "the
// database is rolled back".
constexpr char kDocument[] =
    "https://unqlite.symisc.net/c_api/unqlite_commit.html";

using Settings = std::map<std::string, std::string>;
using Handle = std::unique_ptr<unqlite, int (*)(unqlite*)>;

// Throws UnQLite's own message, if it has one.
void Check(int code, unqlite* db) {
  if (code == UNQLITE_OK) return;
  const char* text = nullptr;
  int size = 0;
  if (db != nullptr) unqlite_config(db, UNQLITE_CONFIG_ERR_LOG, &text, &size);
  throw std::runtime_error("UnQLite: code " + std::to_string(code) + " " +
                           std::string(text, std::max(size, 0)));
}

// Appends a piece of a key or value to the std::string at `to`.
int Append(const void* data, unsigned size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
  return UNQLITE_OK;
}

class UnqliteSession final : public Session {
 public:
  UnqliteSession(unqlite* db, bool durable) : db_(db) {
    UnqliteSession::SetDurable(durable);
  }

  void Write(std::span<const Update> batch) override {
    for (const auto& [key, value] : batch) {
      const int size = static_cast<int>(key.size());
      const int code =
          value ? unqlite_kv_store(db_, key.data(), size, value->data(),
                                   static_cast<unqlite_int64>(value->size()))
                : unqlite_kv_delete(db_, key.data(), size);
      if (value || code != UNQLITE_NOTFOUND) Check(code, db_);
    }
    uncommitted_ += batch.size();
    if (interval_ == 0 || uncommitted_ < interval_) return;
    Check(unqlite_commit(db_), db_);
    uncommitted_ = 0;
  }

  void SetDurable(bool durable) override {
    interval_ = durable ? 1 : FLAGS_commit_interval;
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    value_.clear();
    const int code = unqlite_kv_fetch_callback(
        db_, key.data(), static_cast<int>(key.size()), &Append, &value_);
    if (code == UNQLITE_NOTFOUND) return std::nullopt;
    Check(code, db_);
    return value_;
  }

  void Scan(std::string_view, Order, const Visitor& visit) override {
    unqlite_kv_cursor* cursor = nullptr;
    Check(unqlite_kv_cursor_init(db_, &cursor), db_);
    const auto release = [this](unqlite_kv_cursor* c) {
      unqlite_kv_cursor_release(db_, c);
    };
    const std::unique_ptr<unqlite_kv_cursor, decltype(release)> releaser(
        cursor, release);
    std::string key;
    int code = unqlite_kv_cursor_first_entry(cursor);
    while (code == UNQLITE_OK && unqlite_kv_cursor_valid_entry(cursor)) {
      key.clear();
      value_.clear();
      Check(unqlite_kv_cursor_key_callback(cursor, &Append, &key), db_);
      Check(unqlite_kv_cursor_data_callback(cursor, &Append, &value_), db_);
      if (!visit(key, value_)) return;
      code = unqlite_kv_cursor_next_entry(cursor);
    }
    if (code != UNQLITE_DONE && code != UNQLITE_EOF) Check(code, db_);
  }

 private:
  unqlite* const db_;
  uint64_t interval_ = 0;  // updates between two commits; 0: no commits
  uint64_t uncommitted_ = 0;
  std::string value_;
};

class Unqlite final : public Database {
 public:
  explicit Unqlite(const Options& options) : options_(options) {
    if (options.threads > 1)
      throw Unsupported(
          "the cursors of UnQLite take no lock, so a scan may not run during "
          "the calls of other threads");
    if (options.durability == Durability::kConsistent && !FLAGS_journal)
      throw Unsupported("--nojournal: a crash may corrupt the database");
    unqlite* db = nullptr;
    const int code = unqlite_open(
        &db, (options.path / "db.unqlite").c_str(),
        UNQLITE_OPEN_CREATE | (FLAGS_mmap ? UNQLITE_OPEN_MMAP : 0) |
            (FLAGS_journal ? 0 : UNQLITE_OPEN_OMIT_JOURNALING));
    db_.reset(db);
    Check(code, db);
    Check(unqlite_config(db, UNQLITE_CONFIG_MAX_PAGE_CACHE, Pages()), db);
    UnqliteSession(db, false).Get("k");  // the first call opens the file
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<UnqliteSession>(
        db_.get(), options_.durability == Durability::kDurable);
  }

  Limits GetLimits() override {
    return {.key_size = {std::numeric_limits<int>::max()}};
  }
  void Flush() override { Check(unqlite_commit(db_.get()), db_.get()); }
  void Settle() override {}  // a commit defers nothing
  void Compact() override {
    throw Unsupported("UnQLite has no call that reorganises a database");
  }

  Settings EffectiveSettings() override {
    const std::string as_requested = " (as requested)";
    const auto text = [](bool on) { return on ? "true" : "false"; };
    const char* engine = nullptr;
    Check(unqlite_config(db_.get(), UNQLITE_CONFIG_GET_KV_NAME, &engine),
          db_.get());
    const bool durable = options_.durability == Durability::kDurable;
    return {
        {"commit_interval",
         std::to_string(durable ? 1 : FLAGS_commit_interval) + as_requested},
        {"journal", text(FLAGS_journal) + as_requested},
        {"kv_engine", engine},
        {"max_page_cache",
         std::to_string(Pages()) + as_requested + ", which has no effect"},
        {"mmap", text(FLAGS_mmap) + as_requested}};
  }

 private:
  // Pages of 4 KiB.  UnQLite refuses fewer than 256.
  int Pages() const {
    return static_cast<int>(
        std::clamp(options_.cache_size >> 12, 256ul, uint64_t{1} << 30));
  }

  const Options options_;
  Handle db_{nullptr, &unqlite_close};
};

}  // namespace

const Driver kDriver = {
    .name = "unqlite",
    .licence = "BSD-2-Clause",
    .codec = "",
    .scans = ScanSupport::kUnordered,
    .stores = true,
    .guarantees =
        [] {
          const Promise committed =
              FLAGS_journal ? Promise::kLosesNothing : Promise::kMayBeCorrupt;
          const Promise buffered =
              FLAGS_journal ? Promise::kLosesNewest : Promise::kMayBeCorrupt;
          return Guarantees{
              {{buffered, kDocument},
               FLAGS_journal ? Guarantee{buffered, kDocument} : Guarantee{},
               {committed, kDocument}}};
        },
    .version = [] { return std::string(unqlite_lib_version()); },
    .code = reinterpret_cast<const void*>(&unqlite_lib_version),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Unqlite>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
