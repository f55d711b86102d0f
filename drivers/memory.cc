// memory: a std::map, the reference of the tests: what it answers is right by
// definition.  Each batch is also appended to a log, in one write(2), from
// which the map is rebuilt when the database is reopened.  A shared mutex
// admits any number of readers or one writer.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <shared_mutex>
#include <system_error>

#include "common/driver.h"

namespace kvmatrix {
namespace {

constexpr char kDocument[] = "drivers/memory.cc";
constexpr uint32_t kDeleted = UINT32_MAX;  // takes the place of a value's size

void AppendSize(std::string& log, size_t bytes) {
  const auto size = static_cast<uint32_t>(bytes);
  log.append(reinterpret_cast<const char*>(&size), sizeof(size));
}

class Memory final : public Database {
 public:
  explicit Memory(const Options& options)
      : sync_(options.durability == Durability::kDurable),
        file_((options.path / "log").string()) {
    if (options.durability == Durability::kConsistent)
      throw Unsupported("the log has no sums that would reveal a lost part");
    Replay();
    fd_ = open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    Require(fd_ >= 0);
  }
  ~Memory() override { close(fd_); }

  std::unique_ptr<Session> NewSession() override;
  void Flush() override {}
  void Settle() override {}
  void Compact() override {}
  std::map<std::string, std::string> EffectiveSettings() override {
    return {{"sync", sync_ ? "fdatasync" : "none"}};
  }

  void Write(std::span<const Update> batch, bool sync) {
    const std::lock_guard lock(mutex_);
    log_.clear();
    for (const Update& update : batch) {
      AppendSize(log_, update.key.size());
      AppendSize(log_, update.value ? update.value->size() : kDeleted);
      log_.append(update.key).append(update.value.value_or(""));
    }
    // On a full disk, write() writes a part and fails at the next call.
    for (size_t done = 0; done < log_.size();) {
      const ssize_t more = write(fd_, log_.data() + done, log_.size() - done);
      Require(more >= 0);
      done += static_cast<size_t>(more);
    }
    if (sync) Require(fdatasync(fd_) == 0);
    for (const Update& update : batch) Apply(update.key, update.value);
  }

  bool sync() const { return sync_; }

  // Held by the caller while it uses entries().
  auto Lock() { return std::shared_lock(mutex_); }
  const auto& entries() const { return entries_; }

 private:
  void Require(bool holds) const {
    if (!holds) throw std::system_error(errno, std::generic_category(), file_);
  }

  void Apply(std::string_view key, std::optional<std::string_view> value) {
    if (value) {
      entries_.insert_or_assign(std::string(key), std::string(*value));
    } else if (const auto it = entries_.find(key); it != entries_.end()) {
      entries_.erase(it);
    }
  }

  void Replay() {
    std::ifstream in(file_, std::ios::binary);
    uint32_t sizes[2];
    std::string bytes;
    while (in.read(reinterpret_cast<char*>(sizes), sizeof(sizes))) {
      const bool deleted = sizes[1] == kDeleted;
      bytes.resize(sizes[0] + (deleted ? 0 : sizes[1]));
      if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error(file_ + ": the log ends within an entry");
      }
      const std::string_view both = bytes;
      Apply(both.substr(0, sizes[0]),
            deleted ? std::nullopt : std::optional(both.substr(sizes[0])));
    }
  }

  const bool sync_;
  const std::string file_;
  int fd_ = -1;
  std::shared_mutex mutex_;  // guards the fields below
  std::string log_;
  std::map<std::string, std::string, std::less<>> entries_;
};

class MemorySession final : public Session {
 public:
  explicit MemorySession(Memory& memory)
      : memory_(memory), sync_(memory.sync()) {}

  void SetDurable(bool durable) override { sync_ = durable; }

  void Write(std::span<const Update> batch) override {
    memory_.Write(batch, sync_);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    const auto lock = memory_.Lock();
    const auto it = memory_.entries().find(key);
    if (it == memory_.entries().end()) return std::nullopt;
    return value_ = it->second;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const auto lock = memory_.Lock();
    const auto& entries = memory_.entries();
    if (order == Order::kForward) {
      auto it = entries.lower_bound(start);
      while (it != entries.end() && visit(it->first, it->second)) ++it;
      return;
    }
    auto it = start.empty() ? entries.end() : entries.upper_bound(start);
    while (it != entries.begin() && (--it, visit(it->first, it->second)))
      continue;
  }

 private:
  Memory& memory_;
  bool sync_;
  std::string value_;  // what the last Get() returned
};

std::unique_ptr<Session> Memory::NewSession() {
  return std::make_unique<MemorySession>(*this);
}

std::string Version() { return "1"; }

}  // namespace

const Driver kDriver = {
    .name = "memory",
    .licence = "Apache-2.0",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument},
                             {},
                             {Promise::kLosesNothing, kDocument}}};
        },
    .version = Version,
    .code = reinterpret_cast<const void*>(&Version),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Memory>(options);
    },
    .mixes_durability = true};

}  // namespace kvmatrix
