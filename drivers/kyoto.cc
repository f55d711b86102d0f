// Kyoto Cabinet: TreeDB (a B+ tree) or HashDB (a hash table), selected by the
// compile definition KYOTO_DB. https://dbmx.net/kyotocabinet

#include "common/driver.h"
#include "drivers/options/kyoto_options.h"

namespace kvmatrix {
namespace {

// "Some records may be missing and the database may be broken."
constexpr char kDocument[] = "https://dbmx.net/kyotocabinet/spex.html";

// db_bench_tree_db.cc, Open(); HashDB has no such program.
constexpr const char* kTreeFlags[] = {
    "--page_size=1024",
    "--small",
    "--linear",
    "--map_size=268435456",
    "--noautotran",
    "--cache_size=4194304",
    "--benchmarks=fillseq,fillseqsync,fillrandsync,fillrandom,overwrite,"
    "readrandom,readseq,fillrand100K,fillseq100K,readseq100K,readrand100K"};
constexpr std::span<const char* const> kProgramFlags(
    kTreeFlags, kTree ? std::size(kTreeFlags) : 0);

constexpr int64_t kDefaultBuckets = 64
                                    << 10;  // of TreeDB: kcplantdb.h, DEFBNUM

void Check(bool ok, const Db& db) {
  if (!ok) throw std::runtime_error(db.error().message());
}

class KyotoSession final : public Session {
 public:
  KyotoSession(Db& db, const Options& options)
      : db_(db),
        autosync_(ModeOf(options.durability) & Db::OAUTOSYNC),
        sync_(options.durability == Durability::kDurable) {}

  void Write(std::span<const Update> batch) override {
    if (batch.size() > 1) Check(db_.begin_transaction(sync_), db_);
    for (const auto& [key, value] : batch) {
      const char* data = value && value->data() ? value->data() : "";
      Check(value ? db_.set(key.data(), key.size(), data, value->size())
                  : db_.remove(key.data(), key.size()) || NoRecord(),
            db_);
    }
    if (batch.size() > 1) Check(db_.end_transaction(true), db_);
    if (sync_ && !autosync_) Check(db_.synchronize(true), db_);
  }

  void SetDurable(bool durable) override { sync_ = durable; }

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
      // get() itself steps forward, if asked to; there is no such call for
      // backward.
      at = key && (forward || cursor->step_back());
    }
    // A cursor reports a page that it cannot read as the end of the scan; only
    // the fatal flag distinguishes the two.
    Check((at || NoRecord()) && !(db_.flags() & Db::FFATAL), db_);
  }

 private:
  // Kyoto keeps the last error of each thread separately.
  bool NoRecord() const { return db_.error() == kc::BasicDB::Error::NOREC; }

  Db& db_;
  const bool autosync_;  // as it was opened
  bool sync_;
  std::unique_ptr<char[]> value_;
};

class Kyoto final : public Database, kc::BasicDB::Logger {
 public:
  explicit Kyoto(const Options& options) : options_(options) {
    if (options.durability == Durability::kConsistent)
      throw Unsupported(
          "Kyoto Cabinet documents no level between writes that may be lost in "
          "any order and synchronising each one");
    if (options.compression) db_.tune_compressor(&compressor_);
    db_.tune_logger(this);
    expected_ = Tune(db_, options);
    const auto file = options.path / (kTree ? "db.kct" : "db.kch");
    const uint32_t mode = ModeOf(options.durability);
    Check(db_.open(file, Db::OWRITER | Db::OCREATE | mode), db_);
    EffectiveSettings();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<KyotoSession>(db_, options_);
  }

  Limits GetLimits() override {
    if (options_.threads == 1) return {};
    return {
        .batch_size = {1, "a transaction is the database's, not one thread's"}};
  }

  void Flush() override { Check(db_.synchronize(false), db_); }
  void Settle() override { Flush(); }
  void Compact() override { Check(db_.defrag(0), db_); }

  std::map<std::string, std::string> EffectiveSettings() override {
    std::map<std::string, std::string> status, settings;
    Check(db_.status(&status), db_);
    const auto buckets = expected_.find("bnum");
    repaired_ |= kTree && buckets != expected_.end() &&
                 buckets->second != kDefaultBuckets &&
                 status["bnum"] == std::to_string(kDefaultBuckets);
    for (const auto& [name, expected] : expected_)
      if (status[name] != std::to_string(expected) && !repaired_)
        throw std::runtime_error(name + " is " + status[name] + ", not " +
                                 std::to_string(expected) + " as requested");
    for (const char* name :
         {"apow", "bnum", "fpow", "msiz", "opts", "pccap", "psiz", "rcomp"})
      if (status.contains(name)) settings[name] = status[name];
    if (!kTree) settings["cache_size"] = "none: the mapped file";
    if (repaired_) settings["repaired"] = "true";
    settings["sync"] = SyncOf(options_.durability) + " (as requested)";
    return settings;
  }

 private:
  // The only sign that Kyoto is repairing a TreeDB after a crash is this
  // message, and in later openings Kyoto's default number of buckets.  The
  // repaired tree has Kyoto's default options and page size, so the settings
  // are not compared with the requested ones.
  void log(const char*, int32_t, const char*, Kind, const char* text) override {
    repaired_ |= std::string_view(text).ends_with("reorganizing the database");
  }

  const Options options_;
  bool repaired_ = false;
  std::map<std::string, int64_t> expected_;
  kc::LZOCompressor<kc::LZO::RAW> compressor_;  // outlives db_
  Db db_;                                       // closes itself
};

}  // namespace

const Driver kDriver = {
    .name = kTree ? "treedb" : "hashdb",
    .licence = "GPL-3.0-or-later",
    .codec = "lzo",
    .scans = kTree ? ScanSupport::kBothWays : ScanSupport::kUnordered,
    .stores = true,
    .guarantees =
        [] {
          // Without a transaction for each update, a crash can leave half of
          // it.
          const Promise synchronised =
              FLAGS_autotran ? Promise::kLosesNothing : Promise::kMayBeCorrupt;
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument},
                             {},
                             {synchronised, kDocument}}};
        },
    .version = [] { return std::string(kc::VERSION); },
    .code = reinterpret_cast<const void*>(&kc::nearbyprime),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Kyoto>(options);
    },
    .mixes_durability = true,
    .program_flags = kProgramFlags};

}  // namespace kvmatrix
