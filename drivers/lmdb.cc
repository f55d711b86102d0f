// LMDB: a memory-mapped B+ tree, copied on write.  https://symas.com/lmdb

#include "common/driver.h"
#include "drivers/lmdb_environment.h"
#include "drivers/options/lmdb_options.h"

namespace kvmatrix {
namespace {

// mdb_env_open(): MDB_NOSYNC, MDB_NOMETASYNC, and neither.
constexpr char kDocument[] = "http://www.lmdb.tech/doc/group__mdb.html";

MDB_val ToVal(std::string_view s) {
  return {s.size(), const_cast<char*>(s.data())};
}
std::string_view ToView(const MDB_val& v) {
  return {static_cast<char*>(v.mv_data), v.mv_size};
}

class LmdbSession final : public Session {
 public:
  explicit LmdbSession(Environment& environment)
      : environment_(environment), reader_(environment.AddReader()) {}
  ~LmdbSession() override { environment_.RemoveReader(reader_); }

  void Write(std::span<const Update> batch) override {
    // A snapshot that is left open would keep its pages from being reused.
    reader_.Release();
    Transaction txn = Begin(environment_.get(), 0);
    for (const auto& [key, value] : batch) {
      MDB_val k = ToVal(key), v = ToVal(value.value_or(""));
      const int code =
          value ? Put(txn.get(), k, v)
                : mdb_del(txn.get(), environment_.dbi(), &k, nullptr);
      if (value || code != MDB_NOTFOUND) Check(code);
    }
    // Releases it first: a commit frees the transaction even if it fails.
    Check(mdb_txn_commit(txn.release()));
  }

  void SetDurable(bool durable) override { environment_.SetDurable(durable); }

  std::optional<std::string_view> Get(std::string_view key) override {
    MDB_val k = ToVal(key), value;
    const int code =
        mdb_get(environment_.Newest(reader_), environment_.dbi(), &k, &value);
    if (code == MDB_NOTFOUND) return std::nullopt;
    Check(code);
    return ToView(value);
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    MDB_cursor* cursor = nullptr;
    Check(mdb_cursor_open(environment_.Newest(reader_), environment_.dbi(),
                          &cursor));
    const std::unique_ptr<MDB_cursor, void (*)(MDB_cursor*)> closer(
        cursor, &mdb_cursor_close);
    const bool forward = order == Order::kForward;
    MDB_val key = ToVal(start), value;
    const auto move = [&](MDB_cursor_op to) {
      return mdb_cursor_get(cursor, &key, &value, to);
    };
    int code = start.empty() ? MDB_NOTFOUND : move(MDB_SET_RANGE);
    // MDB_SET_RANGE moves to the first key at or after `start`, where a
    // backward scan may have to go one back, or to the last key if there is
    // none.
    const bool past = code == MDB_NOTFOUND || ToView(key) != start;
    if (start.empty() && forward) code = move(MDB_FIRST);
    if (!forward && past) code = move(code ? MDB_LAST : MDB_PREV);
    while (code == MDB_SUCCESS && visit(ToView(key), ToView(value)))
      code = move(forward ? MDB_NEXT : MDB_PREV);
    if (code != MDB_NOTFOUND) Check(code);
  }

 private:
  // Appends as long as keys ascend.  LMDB refuses a key that does not, before
  // it has changed anything; the session then inserts this and all later ones.
  int Put(MDB_txn* txn, MDB_val k, MDB_val v) {
    if (appends_) {
      const int code = mdb_put(txn, environment_.dbi(), &k, &v, MDB_APPEND);
      if (code != MDB_KEYEXIST) return code;
      appends_ = false;
    }
    return mdb_put(txn, environment_.dbi(), &k, &v, 0);
  }

  Environment& environment_;
  Reader& reader_;
  bool appends_ = FLAGS_append;
};

class Lmdb final : public Database {
 public:
  // A slot for each session's read transaction; 126 is LMDB's default.
  explicit Lmdb(const Options& options)
      : durability_(options.durability),
        environment_(options.path, FLAGS_map_size, FlagsOf(durability_),
                     std::max(options.threads + 1, 126ul),
                     FLAGS_hold_read_txn) {
    EffectiveSettings();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LmdbSession>(environment_);
  }

  Limits GetLimits() override {
    const uint64_t max = mdb_env_get_maxkeysize(environment_.get());
    return {.key_size = {max}};
  }
  void Flush() override {}   // Write() has handed over everything
  void Settle() override {}  // and has deferred nothing
  void Compact() override {
    environment_.Rewrite(durability_ != Durability::kBuffered);
  }

  Settings EffectiveSettings() override {
    return Describe(environment_.get(), environment_.flags());
  }

 private:
  const Durability durability_;
  Environment environment_;
};

}  // namespace

const Driver kDriver = {
    .name = "lmdb",
    .licence = "OLDAP-2.8",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument},
                             {Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNothing, kDocument}}};
        },
    // Six characters behind "LMDB ", such as "0.9.31".
    .version = [] { return std::string(mdb_version(0, 0, 0) + 5, 6); },
    .code = reinterpret_cast<const void*>(&mdb_version),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Lmdb>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
