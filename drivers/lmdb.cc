// LMDB: a memory-mapped B+ tree, copied on write.  https://symas.com/lmdb

#include <gflags/gflags.h>
#include <lmdb.h>

#include "common/driver.h"

DEFINE_uint64(map_size, 64ull << 30,
              "size to which the database may grow, in bytes");

namespace kvmatrix {
namespace {

void Check(int code) {
  if (code == MDB_MAP_FULL)
    throw std::runtime_error("the database is full; raise --map_size");
  if (code != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(code));
}

MDB_val ToVal(std::string_view s) {
  return {s.size(), const_cast<char*>(s.data())};
}
std::string_view ToView(const MDB_val& v) {
  return {static_cast<char*>(v.mv_data), v.mv_size};
}

using Transaction = std::unique_ptr<MDB_txn, void (*)(MDB_txn*)>;
Transaction Begin(MDB_env* env, unsigned flags) {
  MDB_txn* txn = nullptr;
  Check(mdb_txn_begin(env, nullptr, flags, &txn));
  return {txn, &mdb_txn_abort};
}

// Moves the read transaction to the newest snapshot, so that the session sees
// every acknowledged write.
MDB_txn* Renew(const Transaction& reader) {
  mdb_txn_reset(reader.get());
  Check(mdb_txn_renew(reader.get()));
  return reader.get();
}

class LmdbSession final : public Session {
 public:
  LmdbSession(MDB_env* env, MDB_dbi dbi)
      : env_(env), dbi_(dbi), reader_(Begin(env, MDB_RDONLY)) {
    mdb_txn_reset(reader_.get());
  }

  void Write(std::span<const Update> batch) override {
    // A snapshot that is left open would keep its pages from being reused.
    mdb_txn_reset(reader_.get());
    Transaction txn = Begin(env_, 0);
    for (const auto& [key, value] : batch) {
      MDB_val k = ToVal(key), v = ToVal(value.value_or(""));
      const int code = value ? mdb_put(txn.get(), dbi_, &k, &v, 0)
                             : mdb_del(txn.get(), dbi_, &k, nullptr);
      if (value || code != MDB_NOTFOUND) Check(code);
    }
    // Releases it first: a commit frees the transaction even if it fails.
    Check(mdb_txn_commit(txn.release()));
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    MDB_val k = ToVal(key), value;
    const int code = mdb_get(Renew(reader_), dbi_, &k, &value);
    if (code == MDB_NOTFOUND) return std::nullopt;
    Check(code);
    return ToView(value);
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    MDB_cursor* cursor = nullptr;
    Check(mdb_cursor_open(Renew(reader_), dbi_, &cursor));
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
  MDB_env* const env_;
  const MDB_dbi dbi_;
  Transaction reader_;
};

class Lmdb final : public Database {
 public:
  explicit Lmdb(const Options& options) {
    MDB_env* env = nullptr;
    Check(mdb_env_create(&env));
    env_.reset(env);
    Check(mdb_env_set_mapsize(env, FLAGS_map_size));
    // A slot for each session's read transaction; 126 is LMDB's default.
    Check(mdb_env_set_maxreaders(env, std::max(options.threads + 1, 126ul)));
    const unsigned flags = MDB_NOTLS | (options.sync ? 0 : MDB_NOSYNC);
    Check(mdb_env_open(env, options.path.c_str(), flags, 0644));
    Transaction txn = Begin(env, 0);
    Check(mdb_dbi_open(txn.get(), nullptr, 0, &dbi_));
    Check(mdb_txn_commit(txn.release()));
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LmdbSession>(env_.get(), dbi_);
  }

  Limits GetLimits() override {
    const uint64_t max = mdb_env_get_maxkeysize(env_.get());
    return {.key_size = {max}};
  }
  void Flush() override {}   // Write() has handed over everything
  void Settle() override {}  // and has deferred nothing
  void Compact() override {
    throw Unsupported("LMDB compacts only into another file (mdb_env_copy2)");
  }

  std::map<std::string, std::string> EffectiveSettings() override {
    MDB_envinfo info;
    unsigned flags = 0;
    Check(mdb_env_info(env_.get(), &info));
    Check(mdb_env_get_flags(env_.get(), &flags));
    return {{"cache_size", "none: the page cache"},
            {"map_size", std::to_string(info.me_mapsize)},
            {"nosync", flags & MDB_NOSYNC ? "true" : "false"}};
  }

 private:
  std::unique_ptr<MDB_env, void (*)(MDB_env*)> env_{nullptr, &mdb_env_close};
  MDB_dbi dbi_ = 0;
};

}  // namespace

const Driver kDriver = {
    .name = "lmdb",
    .licence = "OLDAP-2.8",
    .codec = "",
    .ordered = true,
    .stores = true,
    // Six characters behind "LMDB ", such as "0.9.24".
    .version = [] { return std::string(mdb_version(0, 0, 0) + 5, 6); },
    .code = reinterpret_cast<const void*>(&mdb_version),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Lmdb>(options);
    }};

}  // namespace kvmatrix
