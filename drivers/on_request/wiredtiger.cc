// WiredTiger: a B-tree with a log and checkpoints.
// https://source.wiredtiger.com

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "common/driver.h"
#include "drivers/on_request/open_sessions.h"
#include "drivers/options/wiredtiger_options.h"

namespace kvmatrix {
namespace {

// transaction_sync: method=none "gives durability across application failure,
// but likely not across system failure"; "the risk is bounded by the most
// recent log file change".  fsync: "durable on application or system failure".
constexpr char kDocument[] =
    "https://source.wiredtiger.com/develop/tune_durability.html";

WT_ITEM ToItem(std::string_view s) {
  WT_ITEM item = {};
  item.data = s.data();
  item.size = s.size();
  return item;
}
std::string_view ToView(const WT_ITEM& item) {
  return {static_cast<const char*>(item.data), item.size};
}

class WiredTigerSession final : public Session {
 public:
  WiredTigerSession(WT_CONNECTION* connection,
                    OpenSessions<WiredTigerSession>& sessions,
                    std::atomic<uint64_t>& rollbacks)
      : sessions_(sessions), rollbacks_(rollbacks) {
    WT_SESSION* session = nullptr;
    Check(connection->open_session(connection, nullptr, nullptr, &session));
    session_ = {session, &Close};
    Check(session->open_cursor(session, kTable, nullptr, nullptr, &cursor_));
    sessions_.Add(this);
  }
  ~WiredTigerSession() override { sessions_.Remove(this); }

  // A conflict rolls the transaction back; "the application should retry".
  void Write(std::span<const Update> batch) override {
    Release();
    int code = 0;
    while ((code = batch.size() == 1 ? Apply(batch[0]) : ApplyAll(batch)) ==
           WT_ROLLBACK)
      ++rollbacks_;
    Check(code);
    if (flushes_) Check(session_->log_flush(session_.get(), "sync=on"));
  }

  // A transaction cannot be synchronised unless the connection does that with
  // each, and with such a connection every write stays durable.
  void SetDurable(bool durable) override { flushes_ = durable; }

  std::optional<std::string_view> Get(std::string_view key) override {
    Release();  // a cursor that keeps its position keeps its snapshot
    SetKey(key);
    const int code = cursor_->search(cursor_);
    if (code == WT_NOTFOUND) return std::nullopt;
    Check(code);
    return Value();
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const auto reset = [](WT_CURSOR* cursor) { cursor->reset(cursor); };
    const std::unique_ptr<WT_CURSOR, decltype(reset)> resetter(cursor_, reset);
    Release();
    const bool forward = order == Order::kForward;
    const auto step = [&] {
      return forward ? cursor_->next(cursor_) : cursor_->prev(cursor_);
    };
    int code = start.empty() ? step() : Seek(start, forward, step);
    for (; code == 0; code = step()) {
      WT_ITEM key;
      Check(cursor_->get_key(cursor_, &key));
      if (!visit(ToView(key), Value())) return;
    }
    if (code != WT_NOTFOUND) Check(code);
  }

  // Gives up the cursor's position, which keeps a page and a snapshot.
  void Release() { Check(cursor_->reset(cursor_)); }

 private:
  static void Close(WT_SESSION* session) { session->close(session, nullptr); }

  void SetKey(std::string_view key) {
    const WT_ITEM item = ToItem(key);
    cursor_->set_key(cursor_, &item);
  }

  std::string_view Value() {
    WT_ITEM value;
    Check(cursor_->get_value(cursor_, &value));
    return ToView(value);
  }

  int Apply(const Update& update) {
    SetKey(update.key);
    if (update.value) {
      const WT_ITEM value = ToItem(*update.value);
      cursor_->set_value(cursor_, &value);
      return cursor_->insert(cursor_);  // which overwrites
    }
    const int code = cursor_->remove(cursor_);
    return code == WT_NOTFOUND ? 0 : code;
  }

  int ApplyAll(std::span<const Update> batch) {
    WT_SESSION* const session = session_.get();
    Check(session->begin_transaction(session, nullptr));
    for (const Update& update : batch) {
      const int code = Apply(update);
      if (code == 0) continue;
      Check(session->rollback_transaction(session, nullptr));
      return code;
    }
    return session->commit_transaction(session, nullptr);
  }

  // Moves to the first key at or after `start`, or the last at or before it.
  template <typename Step>
  int Seek(std::string_view start, bool forward, const Step& step) {
    SetKey(start);
    int side = 0;  // of `start` on which the key was found
    const int code = cursor_->search_near(cursor_, &side);
    return code == 0 && (forward ? side < 0 : side > 0) ? step() : code;
  }

  OpenSessions<WiredTigerSession>& sessions_;
  std::atomic<uint64_t>& rollbacks_;
  std::unique_ptr<WT_SESSION, void (*)(WT_SESSION*)> session_{nullptr, &Close};
  WT_CURSOR* cursor_ = nullptr;  // closed with the session
  bool flushes_ = false;
};

int KeepMessage(WT_EVENT_HANDLER*, WT_SESSION*, int, const char* message) {
  Message() = message;
  return 0;
}

class WiredTiger final : public Database {
 public:
  explicit WiredTiger(const Options& options) : path_(options.path) {
    WT_CONNECTION* connection = nullptr;
    Check(wiredtiger_open(options.path.c_str(), &handler_,
                          ConnectionConfig(options).c_str(), &connection));
    connection_.reset(connection);
    Check(connection->open_session(connection, nullptr, nullptr, &session_));
    Check(session_->create(session_, kTable, TableConfig(options).c_str()));
    settings_ = Describe(connection, session_, options);
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<WiredTigerSession>(connection_.get(), sessions_,
                                               rollbacks_);
  }

  void Flush() override {}  // Write() has written the log
  void Settle() override {
    sessions_.ForEach([](WiredTigerSession& each) { each.Release(); });
    Check(session_->checkpoint(session_, nullptr));
    // A thread of WiredTiger removes the logs that recovery no longer needs.
    while (CountLogs() > 1) std::this_thread::sleep_for(kPoll);
  }
  void Compact() override {
    Settle();  // frees the blocks that no checkpoint needs any longer
    Check(
        session_->compact(session_, kTable, "timeout=0,free_space_target=1MB"));
    Settle();
  }

  Settings EffectiveSettings() override { return settings_; }
  std::map<std::string, uint64_t> Counters() override {
    return {{"rollbacks", rollbacks_}};
  }

 private:
  static constexpr auto kPoll = std::chrono::milliseconds(5);

  static void Close(WT_CONNECTION* connection) {
    connection->close(connection, nullptr);
  }

  int CountLogs() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<int>(
        std::count_if(begin(files), end(files), [](const auto& file) {
          return file.path().filename().string().starts_with("WiredTigerLog.");
        }));
  }

  const std::filesystem::path path_;
  WT_EVENT_HANDLER handler_ = {.handle_error = &KeepMessage,
                               .handle_message = nullptr,
                               .handle_progress = nullptr,
                               .handle_close = nullptr,
                               .handle_general = nullptr};
  std::unique_ptr<WT_CONNECTION, void (*)(WT_CONNECTION*)> connection_{nullptr,
                                                                       &Close};
  WT_SESSION* session_ = nullptr;  // closed with the connection
  Settings settings_;
  std::atomic<uint64_t> rollbacks_ = 0;
  OpenSessions<WiredTigerSession> sessions_;
};

}  // namespace

const Driver kDriver = {
    .name = "wiredtiger",
    .licence = "GPL-2.0-only OR GPL-3.0-only",
    .codec = "snappy",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNewest, kDocument},
                             {Promise::kLosesNothing, kDocument}}};
        },
    .version =
        [] {
          int major = 0, minor = 0, patch = 0;
          wiredtiger_version(&major, &minor, &patch);
          return std::to_string(major) + "." + std::to_string(minor) + "." +
                 std::to_string(patch);
        },
    .code = reinterpret_cast<const void*>(&wiredtiger_open),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<WiredTiger>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
