// GDBM: a hash table of GNU, extended as it grows, for one thread.
// https://www.gnu.org.ua/software/gdbm

#include <fcntl.h>
#include <gdbm.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "common/driver.h"

DEFINE_int32(block_size, 0,
             "size of a block, in bytes; 0 means that of the file system");
DEFINE_bool(mmap, true, "map the file into memory");
DEFINE_bool(coalesce_blocks, false, "merge free blocks (GDBM_SETCOALESCEBLKS)");
DEFINE_bool(central_free, false,
            "keep all free blocks in one list (GDBM_SETCENTFREE)");
DEFINE_bool(cache_auto, false,
            "let GDBM adapt its cache to the size of the file, whatever "
            "--cache_size is (GDBM_CACHE_AUTO)");

namespace kvmatrix {
namespace {

using Settings = std::map<std::string, std::string>;
using Bytes = std::unique_ptr<char, decltype(&std::free)>;

// "At the risk of having a corrupted database if the application terminates in
// an abnormal fashion."
constexpr char kDocument[] =
    "https://www.gnu.org.ua/software/gdbm/manual/Sync.html";

void Check(bool ok, GDBM_FILE db) {
  if (!ok) throw std::runtime_error(gdbm_db_strerror(db));
}

datum ToDatum(std::string_view s) {
  // An empty value is stored only if it has an address.
  const char* data = s.data() != nullptr ? s.data() : "";
  return {const_cast<char*>(data), static_cast<int>(s.size())};
}
std::string_view ToView(const datum& d) {
  return {d.dptr, static_cast<size_t>(d.dsize)};
}

class GdbmSession final : public Session {
 public:
  explicit GdbmSession(GDBM_FILE db) : db_(db) {}

  void Write(std::span<const Update> batch) override {
    for (const auto& [key, value] : batch) {
      const datum k = ToDatum(key);
      Check(value ? gdbm_store(db_, k, ToDatum(*value), GDBM_REPLACE) == 0
                  : gdbm_delete(db_, k) == 0 || NoRecord(),
            db_);
    }
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    const datum value = gdbm_fetch(db_, ToDatum(key));
    value_.reset(value.dptr);
    if (value_ != nullptr) return ToView(value);
    Check(NoRecord(), db_);
    return std::nullopt;
  }

  // GDBM's iteration has keys only; each value is fetched.
  void Scan(std::string_view, Order, const Visitor& visit) override {
    datum key = gdbm_firstkey(db_);
    while (key.dptr != nullptr) {
      const Bytes owner(key.dptr, &std::free);
      const datum value = gdbm_fetch(db_, key);
      const Bytes value_owner(value.dptr, &std::free);
      Check(value.dptr != nullptr, db_);
      if (!visit(ToView(key), ToView(value))) return;
      key = gdbm_nextkey(db_, key);
    }
    Check(NoRecord(), db_);
  }

 private:
  bool NoRecord() const { return gdbm_last_errno(db_) == GDBM_ITEM_NOT_FOUND; }

  GDBM_FILE const db_;
  Bytes value_{nullptr, &std::free};
};

class Gdbm final : public Database {
 public:
  explicit Gdbm(const Options& options) {
    if (options.threads > 1)
      throw Unsupported("GDBM has no locks: one thread may use a database");
    if (options.durability != Durability::kBuffered)
      throw Unsupported(
          "GDBM's documentation promises a readable database after a crash "
          "only with snapshots, which need a file system with reflinks");
    const auto file = options.path / "db.gdbm";
    db_.reset(
        gdbm_open(file.c_str(), FLAGS_block_size,
                  GDBM_WRCREAT | GDBM_CLOEXEC | (FLAGS_mmap ? 0 : GDBM_NOMMAP),
                  0644, nullptr));
    if (db_ == nullptr) throw std::runtime_error(gdbm_strerror(gdbm_errno));
    // The cache is counted in buckets, which have the size of a block.  GDBM
    // takes the next power of two.
    const uint64_t buckets =
        options.cache_size / static_cast<uint64_t>(Get<int>(GDBM_GETBLOCKSIZE));
    Set<size_t>(GDBM_SETCACHESIZE, FLAGS_cache_auto
                                       ? GDBM_CACHE_AUTO
                                       : std::max<uint64_t>(buckets, 1));
    Set<int>(GDBM_SETCOALESCEBLKS, FLAGS_coalesce_blocks);
    Set<int>(GDBM_SETCENTFREE, FLAGS_central_free);
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<GdbmSession>(db_.get());
  }
  Limits GetLimits() override {
    return {.key_size = {INT_MAX},
            .value_size = {INT_MAX},
            .batch_size = {1, "GDBM has no transactions"}};
  }
  void Flush() override { Check(gdbm_sync(db_.get()) == 0, db_.get()); }
  void Settle() override {}  // Flush() has left nothing
  void Compact() override { Check(gdbm_reorganize(db_.get()) == 0, db_.get()); }

  Settings EffectiveSettings() override {
    const auto text = [](bool on) { return on ? "true" : "false"; };
    return {{"block_size", std::to_string(Get<int>(GDBM_GETBLOCKSIZE))},
            {"cache_auto", text(Get<int>(GDBM_GETCACHEAUTO))},
            {"cache_size", std::to_string(Get<size_t>(GDBM_GETCACHESIZE))},
            {"central_free", text(Get<int>(GDBM_GETCENTFREE))},
            {"coalesce_blocks", text(Get<int>(GDBM_GETCOALESCEBLKS))},
            {"mmap", text(Get<int>(GDBM_GETMMAP))},
            {"sync", text(Get<int>(GDBM_GETSYNCMODE))}};
  }

 private:
  template <typename Value>
  Value Get(int option) {
    Value value;
    Check(gdbm_setopt(db_.get(), option, &value, sizeof value) == 0, db_.get());
    return value;
  }
  template <typename Value>
  void Set(int option, Value value) {
    Check(gdbm_setopt(db_.get(), option, &value, sizeof value) == 0, db_.get());
  }

  struct Closer {
    void operator()(GDBM_FILE db) const { gdbm_close(db); }
  };
  std::unique_ptr<gdbm_file_info, Closer> db_;
};

std::string Version() {
  const auto [major, minor, patch] = gdbm_version_number;
  const std::string version =
      std::to_string(major) + "." + std::to_string(minor);
  return patch > 0 ? version + "." + std::to_string(patch) : version;
}

}  // namespace

const Driver kDriver = {
    .name = "gdbm",
    .licence = "GPL-3.0-or-later",
    .codec = "",
    .scans = ScanSupport::kUnordered,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument}, {}, {}}};
        },
    .version = &Version,
    .code = reinterpret_cast<const void*>(&gdbm_open),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Gdbm>(options);
    }};

}  // namespace kvmatrix
