// libmdbx: a memory-mapped B+ tree, copied on write.  https://libmdbx.dqdkfa.ru

#include <algorithm>
#include <memory>

#include "common/driver.h"
#include "drivers/on_request/open_sessions.h"
#include "drivers/options/mdbx_options.h"

namespace kvmatrix {
namespace {

// MDBX_UTTERLY_NOSYNC: "possible corruption".  MDBX_SAFE_NOSYNC: "recent
// commits may be lost, integrity guaranteed".  MDBX_DURABLE: survives a loss of
// power.
constexpr char kDocument[] =
    "https://libmdbx.dqdkfa.ru/docs/en/getting-started/durability-modes.html";
constexpr MDBX_db_flags_t kDefaults = MDBX_DB_DEFAULTS;

MDBX_val ToVal(std::string_view s) {
  return {const_cast<char*>(s.data()), s.size()};
}
std::string_view ToView(const MDBX_val& v) {
  return {static_cast<char*>(v.iov_base), v.iov_len};
}

// Aborted with the object.
using Transaction = std::unique_ptr<MDBX_txn, int (*)(MDBX_txn*)>;

Transaction Begin(MDBX_env* env, MDBX_txn_flags_t flags) {
  MDBX_txn* txn = nullptr;
  Check(mdbx_txn_begin(env, nullptr, flags, &txn));
  return {txn, &mdbx_txn_abort};
}

// Synchronises what was only handed over, as closing would.
void Sync(MDBX_env* env) {
  const int code = mdbx_env_sync_ex(env, true, false);
  if (code != MDBX_RESULT_TRUE) Check(code);  // else there was nothing
}

// A session's read transaction, which keeps its slot, and holds a snapshot from
// Newest() to Release().
class Reader {
 public:
  explicit Reader(MDBX_env* env) : txn_(Begin(env, MDBX_TXN_RDONLY)) {
    Check(mdbx_txn_reset(txn_.get()));
  }

  // Returns the transaction, which sees every write that was acknowledged
  // before the call.
  MDBX_txn* Newest() {
    if (holds_ && FLAGS_hold_read_txn) {
      const int code = mdbx_txn_refresh(txn_.get());
      if (code != MDBX_RESULT_TRUE) Check(code);  // else it is the newest
    } else {
      Release();
      Check(mdbx_txn_renew(txn_.get()));
      holds_ = true;
    }
    return txn_.get();
  }
  void Release() {
    if (holds_) Check(mdbx_txn_reset(txn_.get()));
    holds_ = false;
  }

 private:
  Transaction txn_;
  bool holds_ = false;
};

class MdbxSession final : public Session {
 public:
  MdbxSession(MDBX_env* env, MDBX_dbi dbi, OpenSessions<MdbxSession>& sessions)
      : env_(env), dbi_(dbi), sessions_(sessions), reader_(env) {
    sessions_.Add(this);
  }
  ~MdbxSession() override { sessions_.Remove(this); }

  void Write(std::span<const Update> batch) override {
    // A snapshot that is left open would keep its pages from being reused.
    reader_.Release();
    Transaction txn = Begin(env_, MDBX_TXN_READWRITE);
    for (const auto& [key, value] : batch) {
      MDBX_val k = ToVal(key), v = ToVal(value.value_or(""));
      const int code =
          value ? Put(txn.get(), k, v) : mdbx_del(txn.get(), dbi_, &k, nullptr);
      if (value || code != MDBX_NOTFOUND) Check(code);
    }
    // Releases it first: a commit frees the transaction even if it fails.
    Check(mdbx_txn_commit(txn.release()));
    if (syncs_after_) Sync(env_);
  }

  void SetDurable(bool durable) override { syncs_after_ = durable; }

  std::optional<std::string_view> Get(std::string_view key) override {
    MDBX_val k = ToVal(key), value;
    const int code = mdbx_get(reader_.Newest(), dbi_, &k, &value);
    if (code == MDBX_NOTFOUND) return std::nullopt;
    Check(code);
    return ToView(value);
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    MDBX_cursor* cursor = nullptr;
    Check(mdbx_cursor_open(reader_.Newest(), dbi_, &cursor));
    const std::unique_ptr<MDBX_cursor, void (*)(MDBX_cursor*)> closer(
        cursor, &mdbx_cursor_close);
    const bool forward = order == Order::kForward;
    MDBX_val key = ToVal(start), value;
    const auto move = [&](MDBX_cursor_op to) {
      return mdbx_cursor_get(cursor, &key, &value, to);
    };
    int code = start.empty() ? move(forward ? MDBX_FIRST : MDBX_LAST)
                             : move(forward ? MDBX_TO_KEY_GREATER_OR_EQUAL
                                            : MDBX_TO_KEY_LESSER_OR_EQUAL);
    while (code == MDBX_SUCCESS && visit(ToView(key), ToView(value)))
      code = move(forward ? MDBX_NEXT : MDBX_PREV);
    if (code != MDBX_NOTFOUND) Check(code);
  }

  // Gives up the snapshot.
  void EndRead() { reader_.Release(); }

 private:
  // Appends as long as keys ascend.  libmdbx refuses a key that does not,
  // before it has changed anything; the session then inserts this and all later
  // ones.
  int Put(MDBX_txn* txn, MDBX_val k, MDBX_val v) {
    if (appends_) {
      const int code = mdbx_put(txn, dbi_, &k, &v, MDBX_APPEND);
      if (code != MDBX_EKEYMISMATCH) return code;
      appends_ = false;
    }
    return mdbx_put(txn, dbi_, &k, &v, MDBX_UPSERT);
  }

  MDBX_env* const env_;
  const MDBX_dbi dbi_;
  bool syncs_after_ = false;  // each commit, which does not do so by itself
  OpenSessions<MdbxSession>& sessions_;
  Reader reader_;
  bool appends_ = FLAGS_append;
};

class Mdbx final : public Database {
 public:
  explicit Mdbx(const Options& options) : flags_(FlagsOf(options.durability)) {
    mdbx_setup_debug(MDBX_LOG_ERROR, MDBX_DBG_DONTCHANGE,
                     MDBX_LOGGER_DONTCHANGE);
    MDBX_env* env = nullptr;
    Check(mdbx_env_create(&env));
    env_.reset(env);
    Check(mdbx_env_set_geometry(env, -1, -1, FLAGS_map_size, FLAGS_growth_step,
                                -1, -1));
    Check(mdbx_env_set_option(env, MDBX_opt_writethrough_threshold,
                              FLAGS_writethrough_threshold));
    // A slot for each session's read transaction.
    Check(mdbx_env_set_maxreaders(env, std::max(options.threads + 1, 126ul)));
    Check(mdbx_env_open(env, options.path.c_str(), flags_, 0644));
    Transaction txn = Begin(env, MDBX_TXN_READWRITE);
    Check(mdbx_dbi_open(txn.get(), nullptr, kDefaults, &dbi_));
    Check(mdbx_txn_commit(txn.release()));
    EffectiveSettings();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<MdbxSession>(env_.get(), dbi_, sessions_);
  }

  Limits GetLimits() override {
    const auto limit = [](int size) { return static_cast<uint64_t>(size); };
    return {
        .key_size = {limit(mdbx_env_get_maxkeysize_ex(env_.get(), kDefaults))},
        .value_size = {
            limit(mdbx_env_get_maxvalsize_ex(env_.get(), kDefaults))}};
  }

  void Flush() override {}  // Write() has handed over everything
  void Settle() override {
    sessions_.ForEach([](MdbxSession& each) { each.EndRead(); });
    Sync(env_.get());
  }

  void Compact() override {
    sessions_.ForEach([](MdbxSession& each) { each.EndRead(); });
    const int code = mdbx_env_defrag(env_.get(), 0, 0, 0, 0, -1, 0, nullptr,
                                     nullptr, nullptr);
    if (code != MDBX_RESULT_TRUE) Check(code);  // else no page could be moved
  }

  Settings EffectiveSettings() override { return Describe(env_.get(), flags_); }

 private:
  const MDBX_env_flags_t flags_;
  std::unique_ptr<MDBX_env, int (*)(MDBX_env*)> env_{nullptr, &mdbx_env_close};
  MDBX_dbi dbi_ = 0;
  OpenSessions<MdbxSession> sessions_;
};

}  // namespace

const Driver kDriver = {
    .name = "mdbx",
    .licence = "Apache-2.0",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument},
                             {Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNothing, kDocument}}};
        },
    .version =
        [] {
          return std::to_string(mdbx_version.major) + "." +
                 std::to_string(mdbx_version.minor) + "." +
                 std::to_string(mdbx_version.patch);
        },
    .code = reinterpret_cast<const void*>(&mdbx_env_create),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Mdbx>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
