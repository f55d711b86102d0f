// SQLite as a key-value store: one table, one key.  https://sqlite.org

#include <algorithm>
#include <mutex>
#include <vector>

#include "common/driver.h"
#include "drivers/options/sqlite3_options.h"
#include "drivers/sqlite3_statement.h"

namespace kvmatrix {
namespace {

// db_bench_sqlite3.cc, Open(): 4,096 pages, and the 1,024 bytes that it sets
// before the table is made are 4,096 since SQLite 3.12.
constexpr const char* kProgramFlags[] = {
    "--without_rowid", "--page_size=4096", "--cache_size=16777216",
    "--wal_autocheckpoint=4096",
    "--benchmarks=fillseq,fillseqsync,fillseqbatch,fillrandom,fillrandsync,"
    "fillrandbatch,overwrite,overwritebatch,readrandom,readseq,fillrand100K,"
    "fillseq100K,readseq,readrand100K"};

using Connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

class SqliteSession final : public Session {
 public:
  SqliteSession(sqlite3* db, bool shared, Durability durability)
      : db_(db), shared_(shared), durability_(durability) {}

  void Write(std::span<const Update> batch) override {
    // A read mark that is left open would keep the log from being restarted.
    Check(sqlite3_reset(get_.get()));
    if (batch.size() > 1) Step(begin_);
    for (const auto& [key, value] : batch) {
      Bind(value ? put_ : delete_, 1, key);
      if (value) Bind(put_, 2, *value);
      Step(value ? put_ : delete_);
    }
    if (batch.size() > 1) Step(commit_);
  }

  // Outside of a transaction, as SQLite requires.
  void SetDurable(bool durable) override {
    const int own = SynchronousOf(durability_);
    const int least = durable ? LeastSynchronous(Durability::kDurable) : own;
    const std::string value = std::to_string(std::max(own, least));
    Run(db_, "PRAGMA synchronous = " + value);
    Run(db_, "PRAGMA synchronous", value);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    Check(sqlite3_reset(get_.get()));
    Bind(get_, 1, key);
    if (!Step(get_)) return std::nullopt;
    if (!shared_) return Column(get_, 0);
    value_ = Column(get_, 0);  // an open read would hold back other sessions
    Check(sqlite3_reset(get_.get()));
    return value_;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const bool forward = order == Order::kForward;
    const Statement& scan = forward ? from_ : start.empty() ? all_ : to_;
    // Resets the statement, and does not finalise it, when the scan ends.
    const Statement reset(scan.get(), &sqlite3_reset);
    Bind(scan, 1, start);
    while (Step(scan) && visit(Column(scan, 0), Column(scan, 1))) continue;
  }

 private:
  sqlite3* const db_;
  const bool shared_;
  const Durability durability_;
  std::string value_;
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
  explicit Sqlite(const Options& options) : options_(options) {
    SetMemstatus();
    sqlite3* db = Open();
    const std::string kind = FLAGS_without_rowid ? "WITHOUT ROWID" : "";
    Run(db,
        "CREATE TABLE IF NOT EXISTS kv (k BLOB PRIMARY KEY, v BLOB) " + kind);
    settings_["without_rowid"] =
        Run(db, "SELECT wr FROM pragma_table_list('kv')");
    settings_["memstatus"] = Memstatus();
  }

  std::unique_ptr<Session> NewSession() override {
    const std::lock_guard lock(mutex_);
    sqlite3* db = shared_ ? Open() : connections_[0].get();
    return std::make_unique<SqliteSession>(db, shared_, options_.durability);
  }

  Limits GetLimits() override {
    return {.value_size = {LongestValue(connections_[0].get())}};
  }
  void Flush() override {}  // Write() has handed everything over
  void Settle() override { RunAlone("PRAGMA wal_checkpoint(TRUNCATE)", "0"); }
  void Compact() override { RunAlone("VACUUM"); }
  Settings EffectiveSettings() override { return settings_; }
  std::map<std::string, uint64_t> Counters() override {
    if (!shared_) return {};
    return {{"busy_retries", busy_retries_}};
  }

 private:
  // Opens a connection and reads all of its settings back.
  sqlite3* Open() {
    sqlite3* db = nullptr;
    const int code = sqlite3_open_v2((options_.path / "db.sqlite3").c_str(),
                                     &db, OpenFlags(), nullptr);
    // Before the check: a connection must be closed even if it could not be
    // opened.
    connections_.emplace_back(db, &sqlite3_close);
    Check(code);
    if (shared_) Check(sqlite3_busy_handler(db, &CountAndWait, &busy_retries_));
    Settings settings = Requested(options_);
    for (const char* name : kInOrder)
      Run(db, "PRAGMA " + std::string(name) + " = " + settings[name]);
    for (const char* name : kInOrder)
      Run(db, "PRAGMA " + std::string(name), settings[name]);
    settings["nomutex"] = sqlite3_db_mutex(db) == nullptr ? "true" : "false";
    settings_.merge(settings);  // which are the same for each connection
    return db;
  }

  void RunAlone(const std::string& sql, const std::string& expected = "") {
    for (const Connection& each : connections_) ResetAll(each.get());
    Run(connections_[0].get(), sql, expected);
  }

  const Options options_;
  const bool shared_ = options_.threads > 1;  // a connection per session
  std::atomic<uint64_t> busy_retries_ = 0;
  Settings settings_;
  std::mutex mutex_;
  std::vector<Connection> connections_;
};

}  // namespace

const Driver kDriver = {
    .name = "sqlite3",
    .licence = "blessing",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{GuaranteeOf(Durability::kBuffered),
                            GuaranteeOf(Durability::kConsistent),
                            GuaranteeOf(Durability::kDurable)};
        },
    .version = [] { return std::string(sqlite3_libversion()); },
    .code = reinterpret_cast<const void*>(&sqlite3_libversion),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Sqlite>(options);
    },
    .mixes_durability = true,
    .program_flags = kProgramFlags};

}  // namespace kvmatrix
