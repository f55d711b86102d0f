// Berkeley DB: a B-tree with transactions, a log and locks of pages.
// https://www.oracle.com/database/technologies/related/berkeleydb.html

#include <atomic>
#include <cstdlib>
#include <string>

#include "common/driver.h"
#include "drivers/options/berkeleydb_options.h"

namespace kvmatrix {
namespace {

// DB_TXN_WRITE_NOSYNC: "database integrity will be maintained, but [...] some
// number of the most recently committed transactions may be undone".
constexpr char kDocument[] =
    "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/"
    "envset_flags.html";

// A thing that a call is given.
DBT ToDbt(std::string_view s) {
  DBT dbt = {};
  dbt.data = const_cast<char*>(s.data());
  dbt.size = static_cast<uint32_t>(s.size());
  return dbt;
}

// A thing that a call returns, in memory that later calls reuse.
class Result {
 public:
  Result() { dbt_.flags = DB_DBT_REALLOC; }
  ~Result() { std::free(dbt_.data); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  DBT* dbt() { return &dbt_; }
  std::string_view view() const {
    return {static_cast<char*>(dbt_.data), dbt_.size};
  }
  void Set(std::string_view s) {
    dbt_.data = std::realloc(dbt_.data, std::max<size_t>(s.size(), 1));
    if (dbt_.data == nullptr) throw std::bad_alloc();
    s.copy(static_cast<char*>(dbt_.data), s.size());
    dbt_.size = static_cast<uint32_t>(s.size());
  }

 private:
  DBT dbt_ = {};
};

class BerkeleySession final : public Session {
 public:
  BerkeleySession(DB_ENV* env, DB* db, std::atomic<uint64_t>& deadlocks)
      : env_(env), db_(db), deadlocks_(deadlocks) {}

  void Write(std::span<const Update> batch) override {
    int code;
    do {
      DB_TXN* txn = nullptr;
      Check(env_->txn_begin(env_, nullptr, &txn, 0));
      code = Apply(txn, batch);
      if (code != 0) Check(txn->abort(txn));
      if (code == 0) code = txn->commit(txn, commit_);
    } while (IsDeadlock(code));
    Check(code);
    if (FLAGS_checkpoint_kbytes > 0)
      Check(env_->txn_checkpoint(env_, FLAGS_checkpoint_kbytes, 0, 0));
  }

  void SetDurable(bool durable) override {
    commit_ = durable ? DB_TXN_SYNC : 0;
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    DBT wanted = ToDbt(key);
    int code;
    do {
      code = db_->get(db_, nullptr, &wanted, value_.dbt(), 0);
    } while (IsDeadlock(code));
    if (code == DB_NOTFOUND) return std::nullopt;
    Check(code);
    return value_.view();
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const bool forward = order == Order::kForward;
    const uint32_t next = forward ? DB_NEXT : DB_PREV;
    key_.Set(start);
    bool visited = false;  // the entry of key_
    int code;
    do {
      const Cursor cursor(env_, db_);
      code = cursor.Start(forward, visited, key_, found_);
      while (code == 0) {
        visited = true;
        if (!visit(key_.view(), found_.view())) return;
        code = cursor.Get(key_, found_, next);
      }
    } while (IsDeadlock(code));  // the next cursor continues after key_
    if (code != DB_NOTFOUND) Check(code);
  }

 private:
  // Reads with short locks, or from a snapshot.
  class Cursor {
   public:
    Cursor(DB_ENV* env, DB* db) {
      DB_TXN* txn = nullptr;
      if (FLAGS_multiversion)
        Check(env->txn_begin(env, nullptr, &txn, DB_TXN_SNAPSHOT));
      txn_.reset(txn);
      DBC* cursor = nullptr;
      Check(db->cursor(db, txn, &cursor, txn ? 0 : DB_READ_COMMITTED));
      cursor_.reset(cursor);
    }

    int Get(Result& key, Result& value, uint32_t flags) const {
      return cursor_->get(cursor_.get(), key.dbt(), value.dbt(), flags);
    }

    // Moves to the first entry of a scan from `key`, which is empty if it has
    // no start, or to the one after it if `key` has been `visited`.
    int Start(bool forward, bool visited, Result& key, Result& value) const {
      const std::string start(key.view());
      if (start.empty()) return Get(key, value, forward ? DB_FIRST : DB_LAST);
      int code = Get(key, value, DB_SET_RANGE);
      const bool same = code == 0 && key.view() == start;
      if (forward) return same && visited ? Get(key, value, DB_NEXT) : code;
      // DB_SET_RANGE has moved to the first key at or after `start`.
      if (code == DB_NOTFOUND) return Get(key, value, DB_LAST);
      if (code != 0 || (same && !visited)) return code;
      return Get(key, value, DB_PREV);
    }

   private:
    struct Aborter {
      void operator()(DB_TXN* txn) const { txn->abort(txn); }
    };
    struct Closer {
      void operator()(DBC* cursor) const { cursor->close(cursor); }
    };
    std::unique_ptr<DB_TXN, Aborter> txn_;
    std::unique_ptr<DBC, Closer> cursor_;  // is closed before txn_ ends
  };

  int Apply(DB_TXN* txn, std::span<const Update> batch) {
    for (const auto& [key, value] : batch) {
      DBT k = ToDbt(key), v = ToDbt(value.value_or(""));
      const int code =
          value ? db_->put(db_, txn, &k, &v, 0) : db_->del(db_, txn, &k, 0);
      if (code != 0 && (value || code != DB_NOTFOUND)) return code;
    }
    return 0;
  }

  bool IsDeadlock(int code) {
    if (code != DB_LOCK_DEADLOCK) return false;
    ++deadlocks_;
    return true;
  }

  DB_ENV* const env_;
  DB* const db_;
  std::atomic<uint64_t>& deadlocks_;
  uint32_t commit_ = 0;  // 0: as the environment says
  Result value_, key_, found_;
};

class Berkeley final : public Database {
 public:
  explicit Berkeley(const Options& options)
      : env_(OpenEnvironment(options)), db_(OpenDatabase(env_.get())) {
    EffectiveSettings();
  }
  // So that the next opening has nothing to recover.
  ~Berkeley() override {
    db_.reset();
    env_->txn_checkpoint(env_.get(), 0, 0, 0);
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<BerkeleySession>(env_.get(), db_.get(), deadlocks_);
  }
  Limits GetLimits() override {
    return {.key_size = {UINT32_MAX}, .value_size = {UINT32_MAX}};
  }
  void Flush() override {}  // each commit has written the log
  void Settle() override {
    Check(env_->txn_checkpoint(env_.get(), 0, 0, 0));
    Check(env_->log_archive(env_.get(), nullptr, DB_ARCH_REMOVE));
  }
  void Compact() override {
    DB* const db = db_.get();
    Check(db->compact(db, nullptr, nullptr, nullptr, nullptr, DB_FREE_SPACE,
                      nullptr));
    Settle();
  }
  Settings EffectiveSettings() override {
    return Describe(env_.get(), db_.get());
  }
  std::map<std::string, uint64_t> Counters() override {
    return {{"deadlock_retries", deadlocks_}};
  }

 private:
  std::atomic<uint64_t> deadlocks_ = 0;
  Environment env_;
  BTree db_;
};

std::string Version() {
  int major, minor, patch;
  db_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

}  // namespace

const Driver kDriver = {
    .name = "berkeleydb",
    .licence = "Sleepycat",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNothing, kDocument}}};
        },
    .version = &Version,
    .code = reinterpret_cast<const void*>(&db_version),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Berkeley>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
