// memory: a std::map, the reference of the tests: what it answers is right by
// definition.  Each batch is also appended to a log, with its sum, from which
// the map is rebuilt when the database is reopened.  A batch that a crash has
// left in part, which was not acknowledged, ends the log.  A shared mutex
// admits any number of readers or one writer.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <shared_mutex>
#include <system_error>

#include "common/driver.h"

namespace kvmatrix {
namespace {

constexpr char kDocument[] = "drivers/memory.cc";
constexpr uint32_t kDeleted = UINT32_MAX;  // takes the place of a value's size

// Precedes the updates of a batch in the log.
struct Head {
  uint64_t bytes = 0, sum = 0;
};

// FNV-1a.
uint64_t Sum(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325u;
  for (const char byte : bytes)
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return sum;
}

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
      throw Unsupported("it promises nothing of what it has not synchronized");
    fd_ = open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    Require(fd_ >= 0);
    if (Replay() == 0) SyncName(options.path);
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
    log_.assign(sizeof(Head), '\0');
    for (const Update& update : batch) {
      AppendSize(log_, update.key.size());
      AppendSize(log_, update.value ? update.value->size() : kDeleted);
      log_.append(update.key).append(update.value.value_or(""));
    }
    const std::string_view updates =
        std::string_view(log_).substr(sizeof(Head));
    const Head head = {updates.size(), Sum(updates)};
    std::memcpy(log_.data(), &head, sizeof(head));
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

  // Makes the name of a new log survive a loss of power.
  void SyncName(const std::filesystem::path& folder) const {
    const int fd = open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    Require(fd >= 0 && fsync(fd) == 0);
    close(fd);
  }

  // Applies the batches up to the first that is not whole, cuts that off, and
  // returns the bytes that are left.
  uint64_t Replay() {
    std::ifstream in(file_, std::ios::binary);
    const uint64_t size = std::filesystem::file_size(file_);
    uint64_t end = 0;  // of the batches that were applied
    Head head;
    std::string batch;
    while (in.read(reinterpret_cast<char*>(&head), sizeof(head)) &&
           head.bytes <= size - end - sizeof(head)) {
      batch.resize(head.bytes);
      in.read(batch.data(), static_cast<std::streamsize>(batch.size()));
      if (!in || Sum(batch) != head.sum) break;
      ApplyAll(batch);
      end += sizeof(head) + head.bytes;
    }
    if (end < size) Require(ftruncate(fd_, static_cast<off_t>(end)) == 0);
    return end;
  }

  void ApplyAll(std::string_view batch) {
    uint32_t sizes[2];
    while (!batch.empty()) {
      std::memcpy(sizes, batch.data(), sizeof(sizes));
      batch.remove_prefix(sizeof(sizes));
      const bool deleted = sizes[1] == kDeleted;
      const std::string_view key = batch.substr(0, sizes[0]);
      batch.remove_prefix(sizes[0]);
      Apply(key,
            deleted ? std::nullopt : std::optional(batch.substr(0, sizes[1])));
      if (!deleted) batch.remove_prefix(sizes[1]);
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
