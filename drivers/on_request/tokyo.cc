// Tokyo Cabinet: a B+ tree or a hash table, selected by the compile definition
// TOKYO_DB. https://dbmx.net/tokyocabinet

#include <cstdlib>
#include <exception>
#include <memory>

#include "common/driver.h"
#include "drivers/options/tokyo_options.h"

namespace kvmatrix {
namespace {

// "If a writer opens a database but does not close it appropriately, the
// database will be broken."
constexpr char kClosing[] =
    "https://dbmx.net/tokyocabinet/spex-en.html#tcbdbapi_api";
// "Durability is secured by write ahead logging and shadow paging."
constexpr char kTransactions[] =
    "https://dbmx.net/tokyocabinet/spex-en.html#features_practical";

int Size(std::string_view s) { return static_cast<int>(s.size()); }

class TokyoSession final : public Session {
 public:
  TokyoSession(Handle* db, const Options& options)
      : db_(db), otsync_(options.durability == Durability::kDurable) {}

  void Write(std::span<const Update> batch) override {
    // BDBOTSYNC and HDBOTSYNC synchronise transactions only.
    const bool transaction = sync_ || batch.size() > 1;
    if (transaction) Check(Api::Begin(db_), db_);
    for (const auto& [key, value] : batch) {
      const char* data = value && value->data() ? value->data() : "";
      Check(value ? Api::Put(db_, key.data(), Size(key), data, Size(*value))
                  : Api::Remove(db_, key.data(), Size(key)) || NoRecord(),
            db_);
    }
    if (transaction) Check(Api::Commit(db_), db_);
    if (sync_ && !otsync_) Check(Api::HandOver(db_, true), db_);
  }

  void SetDurable(bool durable) override { sync_ = durable; }

  std::optional<std::string_view> Get(std::string_view key) override {
    int size = 0;
    value_.reset(
        static_cast<char*>(Api::Get(db_, key.data(), Size(key), &size)));
    if (value_ != nullptr)
      return std::string_view(value_.get(), static_cast<size_t>(size));
    Check(NoRecord(), db_);
    return std::nullopt;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    ScanDb(db_, start, order, visit);
  }

 private:
  using Text = std::unique_ptr<TCXSTR, void (*)(TCXSTR*)>;
  static std::string_view View(const Text& text) {
    return {static_cast<const char*>(tcxstrptr(text.get())),
            static_cast<size_t>(tcxstrsize(text.get()))};
  }

  void ScanDb(TCBDB* db, std::string_view start, Order order,
              const Visitor& visit) {
    const bool forward = order == Order::kForward;
    const std::unique_ptr<BDBCUR, void (*)(BDBCUR*)> owner(tcbdbcurnew(db),
                                                           &tcbdbcurdel);
    BDBCUR* const cursor = owner.get();
    bool at;
    if (start.empty()) {
      at = forward ? tcbdbcurfirst(cursor) : tcbdbcurlast(cursor);
    } else {
      at = forward ? tcbdbcurjump(cursor, start.data(), Size(start))
                   : tcbdbcurjumpback(cursor, start.data(), Size(start));
    }
    const Text key(tcxstrnew(), &tcxstrdel), value(tcxstrnew(), &tcxstrdel);
    while (at && tcbdbcurrec(cursor, key.get(), value.get())) {
      if (!visit(View(key), View(value))) return;
      at = forward ? tcbdbcurnext(cursor) : tcbdbcurprev(cursor);
    }
    Check(NoRecord(), db_);
  }

  // A hash table has one iterator, which sessions would have to share.
  void ScanDb(TCHDB* db, std::string_view, Order, const Visitor& visit) {
    struct State {
      const Visitor& visit;
      std::exception_ptr thrown;
    } state{visit, nullptr};
    // The library is written in C: an exception must not pass through it.
    const auto call = [](const void* key, int key_size, const void* value,
                         int value_size, void* pointer) {
      auto& [visit, thrown] = *static_cast<State*>(pointer);
      try {
        return visit(
            {static_cast<const char*>(key), static_cast<size_t>(key_size)},
            {static_cast<const char*>(value), static_cast<size_t>(value_size)});
      } catch (...) {
        thrown = std::current_exception();
        return false;
      }
    };
    Check(tchdbforeach(db, call, &state), db_);
    if (state.thrown) std::rethrow_exception(state.thrown);
  }

  bool NoRecord() const { return Api::Error(db_) == TCENOREC; }

  Handle* const db_;
  const bool otsync_;  // as it was opened
  bool sync_ = otsync_;
  std::unique_ptr<char, decltype(&std::free)> value_{nullptr, &std::free};
};

class Tokyo final : public Database {
 public:
  explicit Tokyo(const Options& options) : options_(options) {
    if (options.durability == Durability::kConsistent)
      throw Unsupported(
          "Tokyo Cabinet documents no level between writes that may be lost in "
          "any order and transactions that are synchronised");
    Tune(db_.get(), options);
    const auto file = options.path / (kTree ? "db.tcb" : "db.tch");
    const bool sync = options.durability == Durability::kDurable;
    // The modes of both databases have the same values.
    const int mode = BDBOWRITER | BDBOCREAT | (sync ? BDBOTSYNC : 0);
    Check(Api::Open(db_.get(), file.c_str(), mode), db_.get());
    EffectiveSettings();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<TokyoSession>(db_.get(), options_);
  }
  Limits GetLimits() override {
    return {.key_size = {INT32_MAX}, .value_size = {INT32_MAX}};
  }
  void Flush() override { Check(Api::HandOver(db_.get(), false), db_.get()); }
  void Settle() override { Flush(); }
  void Compact() override { Check(Api::Rewrite(db_.get()), db_.get()); }
  Settings EffectiveSettings() override {
    return Describe(db_.get(), options_);
  }

 private:
  const Options options_;
  const std::unique_ptr<Handle, decltype(Api::Delete)> db_{Api::New(),
                                                           Api::Delete};
};

}  // namespace

const Driver kDriver = {
    .name = kTree ? "tokyo-bdb" : "tokyo-hdb",
    .licence = "LGPL-2.1-or-later",
    .codec = "deflate",
    .scans = kTree ? ScanSupport::kBothWays : ScanSupport::kUnordered,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kClosing},
                             {},
                             {Promise::kLosesNothing, kTransactions}}};
        },
    .version = [] { return std::string(tcversion); },
    .code = reinterpret_cast<const void*>(&tchdbnew),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Tokyo>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
