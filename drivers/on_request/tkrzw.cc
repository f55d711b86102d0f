// Tkrzw: TreeDBM (a B+ tree) or HashDBM (a hash table), selected by the compile
// definition TKRZW_DBM.  https://dbmx.net/tkrzw

#include <memory>
#include <utility>
#include <vector>

#include "common/driver.h"
#include "drivers/options/tkrzw_options.h"

namespace kvmatrix {
namespace {

// "In its default configuration, Tkrzw always favors performance", and "the
// database file might be broken" if it is not closed.
constexpr char kDefaults[] = "https://dbmx.net/tkrzw/#tips_acid";
constexpr char kAppending[] =
    "https://dbmx.net/tkrzw/#tips_durability_settings";

using Processor = tkrzw::DBM::RecordProcessor;

void Check(const tkrzw::Status& status) {
  if (!status.IsOK()) throw std::runtime_error(tkrzw::ToString(status));
}
void CheckUnlessAbsent(const tkrzw::Status& status) {
  if (status != tkrzw::Status::NOT_FOUND_ERROR) Check(status);
}

// Applies one update of a batch.
class Updater final : public Processor {
 public:
  explicit Updater(const Update& update) : value_(update.value) {}
  std::string_view ProcessFull(std::string_view, std::string_view) override {
    return value_ ? *value_ : REMOVE;
  }
  std::string_view ProcessEmpty(std::string_view) override {
    return value_ ? *value_ : NOOP;
  }

 private:
  const std::optional<std::string_view> value_;
};

// Passes one entry on to a visitor, without a copy.
class Viewer final : public Processor {
 public:
  explicit Viewer(const Visitor& visit) : visit_(visit) {}
  std::string_view ProcessFull(std::string_view key,
                               std::string_view value) override {
    goes_on_ = visit_(key, value);
    return NOOP;
  }
  bool goes_on() const { return goes_on_; }

 private:
  const Visitor& visit_;
  bool goes_on_ = true;
};

class TkrzwSession final : public Session {
 public:
  TkrzwSession(Dbm& dbm, const Options& options)
      : dbm_(dbm), sync_(options.durability == Durability::kDurable) {}

  void Write(std::span<const Update> batch) override {
    if (batch.size() > 1) {
      WriteMany(batch);
    } else if (const auto& [key, value] = batch[0]; value) {
      Check(dbm_.Set(key, *value));
    } else {
      CheckUnlessAbsent(dbm_.Remove(key));
    }
    if (sync_) Check(dbm_.Synchronize(true));
  }

  void SetDurable(bool durable) override { sync_ = durable; }

  std::optional<std::string_view> Get(std::string_view key) override {
    const tkrzw::Status status = dbm_.Get(key, &value_);
    CheckUnlessAbsent(status);
    if (!status.IsOK()) return std::nullopt;
    return value_;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const bool forward = order == Order::kForward;
    const auto iterator = dbm_.MakeIterator();
    if (start.empty()) {
      Check(forward ? iterator->First() : iterator->Last());
    } else {
      Check(forward ? iterator->Jump(start) : iterator->JumpLower(start, true));
    }
    Viewer viewer(visit);
    tkrzw::Status status = iterator->Process(&viewer, false);
    while (status.IsOK() && viewer.goes_on()) {
      CheckUnlessAbsent(forward ? iterator->Next() : iterator->Previous());
      status = iterator->Process(&viewer, false);
    }
    CheckUnlessAbsent(status);
  }

 private:
  // No synchronisation, of any thread, falls between the updates of
  // ProcessMulti(), so an opening after a crash finds all or none of them.
  void WriteMany(std::span<const Update> batch) {
    std::vector<Updater> updaters(batch.begin(), batch.end());
    std::vector<std::pair<std::string_view, Processor*>> pairs;
    for (size_t i = 0; i < batch.size(); ++i)
      pairs.emplace_back(batch[i].key, &updaters[i]);
    Check(dbm_.ProcessMulti(pairs, true));
  }

  Dbm& dbm_;
  bool sync_;
  std::string value_;
};

class Tkrzw final : public Database {
 public:
  explicit Tkrzw(const Options& options) : options_(options) {
    const auto file = options.path / (kTree ? "db.tkt" : "db.tkh");
    Check(dbm_.OpenAdvanced(file, true, tkrzw::File::OPEN_DEFAULT,
                            Tuning(options)));
    // A file that was written in place stays so until it is rebuilt.
    if (IsAppending(options) && !IsAppending(dbm_))
      Check(dbm_.RebuildAdvanced(Tuning(options), false, true));
    Describe(dbm_, options_);
  }
  ~Tkrzw() override { dbm_.Close(); }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<TkrzwSession>(dbm_, options_);
  }

  Limits GetLimits() override {
    if (IsAppending(options_)) return {};
    return {.batch_size = {
                1, "atomic in a crash only with --durability above buffered"}};
  }

  // In the appending mode an opening after a crash of the machine trusts the
  // size that was synchronised last, so that must not reach the disk before
  // the data.
  void Flush() override { Check(dbm_.Synchronize(IsAppending(options_))); }
  void Settle() override { Flush(); }
  void Compact() override {
    Check(dbm_.RebuildAdvanced(Tuning(options_), false, IsAppending(options_)));
    Flush();
  }
  Settings EffectiveSettings() override { return Describe(dbm_, options_); }

 private:
  const Options options_;
  Dbm dbm_;
};

}  // namespace

const Driver kDriver = {
    .name = kTree ? "tkrzw-tree" : "tkrzw-hash",
    .licence = "Apache-2.0",
    .codec = "lz4",
    .scans = kTree ? ScanSupport::kBothWays : ScanSupport::kUnordered,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDefaults},
                             {Promise::kLosesNewest, kAppending},
                             {Promise::kLosesNothing, kAppending}}};
        },
    .version = [] { return std::string(tkrzw::PACKAGE_VERSION); },
    .code = reinterpret_cast<const void*>(&tkrzw::GetWallTime),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Tkrzw>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
