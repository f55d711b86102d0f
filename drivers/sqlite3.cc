// SQLite as a key-value store: one table, one key.  https://sqlite.org

#include <gflags/gflags.h>
#include <sqlite3.h>

#include "common/driver.h"

DEFINE_uint64(page_size, 1024, "bytes of a page; SQLite's own default is 4096");
DEFINE_uint64(wal_autocheckpoint, 4096, "pages of log before a checkpoint");
DEFINE_bool(without_rowid, false, "keep the entries in the index of the keys");

namespace kvmatrix {
namespace {

using Settings = std::map<std::string, std::string>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

void Check(int code) {
  if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errstr(code));
}
Statement Prepare(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  Check(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr));
  return {statement, &sqlite3_finalize};
}

// Returns true if there is a row, else resets the statement.
bool Step(const Statement& statement) {
  if (sqlite3_step(statement.get()) == SQLITE_ROW) return true;
  Check(sqlite3_reset(statement.get()));  // the error of sqlite3_step()
  return false;
}

void Bind(const Statement& s, int parameter, std::string_view v) {
  const char* data = v.data() != nullptr ? v.data() : "";  // nullptr is NULL
  Check(sqlite3_bind_blob64(s.get(), parameter, data, v.size(), SQLITE_STATIC));
}
std::string_view Column(const Statement& s, int column) {
  const void* data = sqlite3_column_blob(s.get(), column);
  const size_t size = sqlite3_column_bytes(s.get(), column);
  return {static_cast<const char*>(data), size};
}

class SqliteSession final : public Session {
 public:
  explicit SqliteSession(sqlite3* db) : db_(db) {}

  void Write(std::span<const Update> batch) override {
    Check(sqlite3_reset(get_.get()));  // its read mark would hold back the log
    if (batch.size() > 1) Step(begin_);
    for (const auto& [key, value] : batch) {
      Bind(value ? put_ : delete_, 1, key);
      if (value) Bind(put_, 2, *value);
      Step(value ? put_ : delete_);
    }
    if (batch.size() > 1) Step(commit_);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    Check(sqlite3_reset(get_.get()));
    Bind(get_, 1, key);
    return Step(get_) ? std::optional(Column(get_, 0)) : std::nullopt;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const bool forward = order == Order::kForward;
    const Statement& scan = forward ? from_ : start.empty() ? all_ : to_;
    const Statement reset(scan.get(), &sqlite3_reset);
    Bind(scan, 1, start);
    while (Step(scan) && visit(Column(scan, 0), Column(scan, 1))) continue;
  }

 private:
  sqlite3* const db_;
  Statement begin_ = Prepare(db_, "BEGIN");
  Statement commit_ = Prepare(db_, "COMMIT");
  Statement put_ = Prepare(db_, "REPLACE INTO kv VALUES (?, ?)");
  Statement delete_ = Prepare(db_, "DELETE FROM kv WHERE k = ?");
  Statement get_ = Prepare(db_, "SELECT v FROM kv WHERE k = ?");
  Statement from_ = Prepare(db_, "SELECT * FROM kv WHERE k >= ? ORDER BY k");
  Statement all_ =
      Prepare(db_, "SELECT * FROM kv WHERE k >= ? ORDER BY k DESC");
  Statement to_ = Prepare(db_, "SELECT * FROM kv WHERE k <= ? ORDER BY k DESC");
};

class Sqlite final : public Database {
 public:
  explicit Sqlite(const Options& options) {
    sqlite3* db = nullptr;
    const int code = sqlite3_open((options.path / "db.sqlite3").c_str(), &db);
    db_.reset(db);
    Check(code);
    const auto set = [this](const std::string& name, const std::string& value) {
      Run("PRAGMA " + name + " = " + (settings_[name] = value));
    };
    set("page_size", std::to_string(FLAGS_page_size));  // before WAL fixes it
    set("locking_mode", "exclusive");
    set("journal_mode", "wal");
    set("wal_autocheckpoint", std::to_string(FLAGS_wal_autocheckpoint));
    set("cache_size",
        std::to_string(options.cache_size / std::max(FLAGS_page_size, 1ul)));
    set("synchronous", options.sync ? "2" : "0");
    set("secure_delete", "0");
    const std::string kind = FLAGS_without_rowid ? "WITHOUT ROWID" : "";
    Run("CREATE TABLE IF NOT EXISTS kv (k BLOB PRIMARY KEY, v BLOB) " + kind);
    for (const auto& [name, value] : settings_) Run("PRAGMA " + name, value);
    settings_["without_rowid"] = Run("SELECT wr FROM pragma_table_list('kv')");
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<SqliteSession>(db_.get());
  }

  void Flush() override {}  // Write() has handed everything over
  void Settle() override { Run("PRAGMA wal_checkpoint(TRUNCATE)", "0"); }
  void Compact() override { Run("VACUUM"); }
  Settings EffectiveSettings() override { return settings_; }

 private:
  // The first value of the answer, or "".  Throws if it is not `wanted`.
  std::string Run(const std::string& sql, std::string_view wanted = "") {
    sqlite3_stmt* open = nullptr;  // Get() leaves its read open for its view
    while ((open = sqlite3_next_stmt(db_.get(), open))) sqlite3_reset(open);
    const Statement statement = Prepare(db_.get(), sql);
    const std::string found(Step(statement) ? Column(statement, 0) : "");
    if (found == wanted || wanted.empty()) return found;
    throw std::runtime_error(sql + ": " + found + ", not " + wanted.data());
  }

  Settings settings_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> db_{nullptr, &sqlite3_close};
};

}  // namespace

const Driver kDriver = {
    .name = "sqlite3",
    .licence = "blessing",
    .codec = "",
    .ordered = true,
    .stores = true,
    .version = [] { return std::string(sqlite3_libversion()); },
    .code = reinterpret_cast<const void*>(&sqlite3_libversion),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Sqlite>(options);
    }};

}  // namespace kvmatrix
