// lsm1: the log-structured merge tree in the source of SQLite.
// https://sqlite.org/src4/doc/trunk/www/lsmusr.wiki

#include <atomic>
#include <limits>
#include <memory>

#include "common/driver.h"
#include "drivers/on_request/open_sessions.h"
#include "drivers/options/lsm1_options.h"

namespace kvmatrix {
namespace {

// LSM_CONFIG_SAFETY: 0 "may corrupt the database"; 1 "may not corrupt the
// database file, but recently committed transactions may be lost"; 2 "contains
// all successfully committed transactions".
constexpr char kDocument[] =
    "https://sqlite.org/src4/doc/trunk/www/lsmapi.wiki";

using Connection = std::unique_ptr<lsm_db, int (*)(lsm_db*)>;
using Cursor = std::unique_ptr<lsm_cursor, int (*)(lsm_cursor*)>;
using Bytes = int (*)(lsm_cursor*, const void**, int*);

// Returns the key (lsm_csr_key) or the value (lsm_csr_value) of the entry,
// valid until the cursor is moved or closed.
std::string_view View(const Cursor& cursor, Bytes bytes) {
  const void* data = nullptr;
  int size = 0;
  Check(bytes(cursor.get(), &data, &size));
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

Connection Open(const Options& options) {
  lsm_db* db = nullptr;
  Check(lsm_new(nullptr, &db));
  Connection connection(db, &lsm_close);
  for (const Parameter& each : Requested(options.durability))
    Configure(db, each);
  Check(lsm_open(db, (options.path / "db.lsm1").c_str()));
  return connection;
}

class Lsm1Session final : public Session {
 public:
  Lsm1Session(const Options& options, OpenSessions<Lsm1Session>& sessions,
              std::atomic<uint64_t>& busy_retries)
      : db_(Open(options)),
        safety_(SafetyOf(options.durability)),
        sessions_(sessions),
        busy_retries_(busy_retries) {
    sessions_.Add(this);
  }
  ~Lsm1Session() override { sessions_.Remove(this); }

  void Write(std::span<const Update> batch) override {
    EndRead();
    Retry([&] { return lsm_begin(db_.get(), 1); });
    for (const auto& [key, value] : batch) {
      const int size = static_cast<int>(key.size());
      Check(value ? lsm_insert(db_.get(), key.data(), size, value->data(),
                               static_cast<int>(value->size()))
                  : lsm_delete(db_.get(), key.data(), size));
    }
    Check(lsm_commit(db_.get(), 0));
  }

  // lsm1 reads the parameter at each commit.
  void SetDurable(bool durable) override {
    const int safety = durable ? LSM_SAFETY_FULL : safety_;
    Configure(db_.get(), {"safety", LSM_CONFIG_SAFETY, safety});
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    Cursor& cursor = BeginRead();
    Check(lsm_csr_seek(cursor.get(), key.data(), static_cast<int>(key.size()),
                       LSM_SEEK_EQ));
    if (!lsm_csr_valid(cursor.get())) return std::nullopt;
    return View(cursor, &lsm_csr_value);
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    Cursor& cursor = BeginRead();
    lsm_cursor* const at = cursor.get();
    const bool forward = order == Order::kForward;
    if (start.empty()) {
      Check(forward ? lsm_csr_first(at) : lsm_csr_last(at));
    } else {
      Check(lsm_csr_seek(at, start.data(), static_cast<int>(start.size()),
                         forward ? LSM_SEEK_GE : LSM_SEEK_LE));
    }
    while (lsm_csr_valid(at) &&
           visit(View(cursor, &lsm_csr_key), View(cursor, &lsm_csr_value)))
      Check(forward ? lsm_csr_next(at) : lsm_csr_prev(at));
  }

  // Closes the cursor, which holds a snapshot.
  void EndRead() { cursor_.reset(); }

 private:
  // Returns a cursor that sees the newest snapshot.
  Cursor& BeginRead() {
    EndRead();
    lsm_cursor* cursor = nullptr;
    Retry([&] { return lsm_csr_open(db_.get(), &cursor); });
    cursor_.reset(cursor);
    return cursor_;
  }

  // Repeats a call that other sessions are in the way of, until it succeeds:
  // lsm1 has one writer at a time and six places for readers, and does not
  // wait.
  template <typename Call>
  void Retry(Call call) {
    int code = LSM_OK;
    while ((code = call()) == LSM_BUSY) {
      ++busy_retries_;
      lsm_env* const env = lsm_get_env(db_.get());
      env->xSleep(env, kBusyMicros);
    }
    Check(code);
  }

  static constexpr int kBusyMicros = 100;

  const Connection db_;
  const int safety_;  // of the database's durability
  OpenSessions<Lsm1Session>& sessions_;
  std::atomic<uint64_t>& busy_retries_;
  Cursor cursor_{nullptr, &lsm_csr_close};
};

class Lsm1 final : public Database {
 public:
  explicit Lsm1(const Options& options)
      : options_(options), db_(Open(options)) {
    EffectiveSettings();
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<Lsm1Session>(options_, sessions_, busy_retries_);
  }

  Limits GetLimits() override {
    constexpr uint64_t kMax = std::numeric_limits<int>::max();
    return {.key_size = {kMax}, .value_size = {kMax}};
  }

  void Flush() override {}  // Write() has written the log

  // Does what closing would do, writes the tree in memory into the file, and
  // what later writes would, the merges that are due.
  void Settle() override {
    sessions_.ForEach([](Lsm1Session& each) { each.EndRead(); });
    Check(lsm_flush(db_.get()));
    Work(FLAGS_automerge);
  }

  void Compact() override {
    sessions_.ForEach([](Lsm1Session& each) { each.EndRead(); });
    Check(lsm_flush(db_.get()));
    Work(1);
  }

  Settings EffectiveSettings() override {
    return Describe(db_.get(), options_.durability);
  }
  std::map<std::string, uint64_t> Counters() override {
    if (options_.threads == 1) return {};
    return {{"busy_retries", busy_retries_}};
  }

 private:
  // Merges until no `merge` segments can be merged.
  void Work(int merge) {
    Check(lsm_work(db_.get(), merge, -1, nullptr));
    Check(lsm_checkpoint(db_.get(), nullptr));
  }

  const Options options_;
  std::atomic<uint64_t> busy_retries_ = 0;
  const Connection db_;  // the first, and the last to be closed
  OpenSessions<Lsm1Session> sessions_;
};

}  // namespace

const Driver kDriver = {
    .name = "lsm1",
    .licence = "blessing",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument},
                             {Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNothing, kDocument}}};
        },
    // It has no version of its own: that of the SQLite that contains it.
    .version = [] { return std::string(KVM_LSM1_VERSION); },
    .code = reinterpret_cast<const void*>(&lsm_new),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Lsm1>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
