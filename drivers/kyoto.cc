// Kyoto Cabinet: TreeDB (a B+ tree) or HashDB (a hash table), chosen by the
// compile definition KYOTO_DB.  https://dbmx.net/kyotocabinet

#include <gflags/gflags.h>
#include <kchashdb.h>
#include <kcplantdb.h>

#include "common/driver.h"

DEFINE_uint64(page_size, 1024, "bytes of a page, of which HashDB has none");
DEFINE_uint64(map_size, 256 << 20, "bytes of the file to memory-map");
DEFINE_uint64(buckets, 0, "hash buckets; 0: Kyoto's default");

namespace kvmatrix {
namespace {

namespace kc = kyotocabinet;
using Db = kc::KYOTO_DB;
constexpr bool kTree = std::is_same_v<Db, kc::TreeDB>;

void Check(bool ok, const Db& db) {
  if (!ok) throw std::runtime_error(db.error().message());
}

class KyotoSession final : public Session {
 public:
  KyotoSession(Db& db, bool sync) : db_(db), sync_(sync) {}

  void Write(std::span<const Update> batch) override {
    if (batch.size() > 1) Check(db_.begin_transaction(sync_), db_);
    for (const auto& [key, value] : batch) {
      const char* data = value && value->data() ? value->data() : "";
      Check(value ? db_.set(key.data(), key.size(), data, value->size())
                  : db_.remove(key.data(), key.size()) || NoRecord(),
            db_);
    }
    if (batch.size() > 1) Check(db_.end_transaction(true), db_);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    size_t size = 0;
    value_.reset(db_.get(key.data(), key.size(), &size));
    if (value_ != nullptr) return std::string_view(value_.get(), size);
    Check(NoRecord(), db_);
    return std::nullopt;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const bool forward = order == Order::kForward;
    const std::unique_ptr<kc::BasicDB::Cursor> cursor(db_.cursor());
    size_t key_size, value_size;
    const char* value;  // follows the key in the same allocation
    const auto jump = [&](auto... key) {
      return forward ? cursor->jump(key...) : cursor->jump_back(key...);
    };
    bool at = start.empty() ? jump() : jump(start.data(), start.size());
    while (at) {
      const std::unique_ptr<char[]> key(
          cursor->get(&key_size, &value, &value_size, forward));
      if (key && !visit({key.get(), key_size}, {value, value_size})) break;
      at = key && (forward || cursor->step_back());
    }
    // A cursor reports a page that it cannot read as the end of the scan.
    Check((at || NoRecord()) && !(db_.flags() & Db::FFATAL), db_);
  }

 private:
  bool NoRecord() const { return db_.error() == kc::BasicDB::Error::NOREC; }

  Db& db_;
  const bool sync_;
  std::unique_ptr<char[]> value_;
};

class Kyoto final : public Database, kc::BasicDB::Logger {
 public:
  explicit Kyoto(const Options& options) : sync_(options.sync) {
    const int compress = options.compression ? Db::TCOMPRESS : 0;
    if (compress) db_.tune_compressor(&compressor_);
    db_.tune_options(wanted_["opts"] = Db::TSMALL | Db::TLINEAR | compress);
    db_.tune_logger(this);
    db_.tune_map(wanted_["msiz"] = FLAGS_map_size);
    db_.tune_buckets(FLAGS_buckets);
    [&](auto& db) {
      if constexpr (kTree) {  // a cache of 0 would mean Kyoto's 64 MiB
        db.tune_page_cache(wanted_["pccap"] =
                               std::max<int64_t>(options.cache_size, 1));
        db.tune_page(wanted_["psiz"] = FLAGS_page_size);
      }
    }(db_);
    const auto file = options.path / (kTree ? "db.kct" : "db.kch");
    const uint32_t autosync = sync_ ? Db::OAUTOSYNC : 0;
    Check(db_.open(file, Db::OWRITER | Db::OCREATE | autosync), db_);
    EffectiveSettings();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<KyotoSession>(db_, sync_);
  }

  void Flush() override { Check(db_.synchronize(false), db_); }
  void Settle() override { Flush(); }
  void Compact() override { Check(db_.defrag(0), db_); }

  // Kyoto's own names: opts is 1 (small) + 2 (linear) + 4 (compressed).
  std::map<std::string, std::string> EffectiveSettings() override {
    std::map<std::string, std::string> status, settings;
    Check(db_.status(&status), db_);
    for (const auto& [name, wanted] : wanted_)
      if (status[name] != std::to_string(wanted) && !repaired_)
        throw std::runtime_error(name + " is " + status[name] + ", not " +
                                 std::to_string(wanted) + " as requested");
    for (const char* name :
         {"apow", "bnum", "fpow", "msiz", "opts", "pccap", "psiz", "rcomp"})
      if (status.contains(name)) settings[name] = status[name];
    if (repaired_) settings["repaired"] = "true";
    settings["sync"] = sync_ ? "true (as requested)" : "false (as requested)";
    return settings;
  }

 private:
  // A TreeDB that Kyoto repairs after a crash loses its options and page size.
  void log(const char*, int32_t, const char*, Kind, const char* text) override {
    repaired_ |= std::string_view(text).ends_with("reorganizing the database");
  }

  const bool sync_;
  bool repaired_ = false;
  std::map<std::string, int64_t> wanted_;
  kc::LZOCompressor<kc::LZO::RAW> compressor_;  // outlives db_
  Db db_;                                       // closes itself
};

}  // namespace

const Driver kDriver = {
    .name = kTree ? "treedb" : "hashdb",
    .licence = "GPL-3.0-or-later",
    .codec = "lzo",
    .ordered = kTree,
    .stores = true,
    .version = [] { return std::string(kc::VERSION); },
    .code = reinterpret_cast<const void*>(&kc::nearbyprime),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Kyoto>(options);
    }};

}  // namespace kvmatrix
