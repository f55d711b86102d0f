// db_bench_liar: the memory engine, which breaks its promise as the name says
// under which it is started.  Only a cut of the power, or a full disk, can show
// it.
//
//   never      does not sync
//   seldom     syncs one commit in five
//   elsewhere  syncs another file
//   shallow    writes the data to the disk, but not the size of the file
//   unlisted   has each commit in a new file, of which it does not sync the
//              name
//   deaf       ignores all errors of the disk
//   eager      shows others a commit before it is on the disk
//
// Under any other name it is honest; as "renames" it does what "unlisted" does,
// and syncs the name.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "common/driver.h"

namespace {

constexpr int kSeldom = 5;

bool Lies(std::string_view lie) { return program_invocation_short_name == lie; }

// Opens a copy of a file, which takes its place.
int Replace(const std::filesystem::path& file) {
  const std::filesystem::path copy = file.string() + ".new";
  std::filesystem::remove(copy);  // of an engine that a cut has ended
  std::filesystem::copy_file(file, copy);
  // On a full disk, libstdc++ 12 may copy a part and report no error.
  if (std::filesystem::file_size(copy) != std::filesystem::file_size(file)) {
    errno = ENOSPC;
    return -1;
  }
  const int fd = open(copy.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0) return -1;
  return rename(copy.c_str(), file.c_str()) == 0 ? fd : -1;
}

int SyncName(const std::filesystem::path& file) {
  const int fd = open(file.parent_path().c_str(), O_RDONLY | O_CLOEXEC);
  const int result = fsync(fd);
  close(fd);
  return result;
}

int SyncNewFile(int fd) {
  const auto file =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
  const int copy = Replace(file);
  if (copy < 0 || dup3(copy, fd, O_CLOEXEC) < 0) return -1;
  close(copy);
  return Lies("unlisted") ? 0 : SyncName(file);
}

int SyncAsItSays(int fd) {
  static int commits = 0;
  if (Lies("never")) return 0;
  if (Lies("seldom") && ++commits % kSeldom != 0) return 0;
  if (Lies("elsewhere")) {
    static const int other =
        open("/proc/self/exe", O_RDONLY | O_CLOEXEC);  // durable already
    return fdatasync(other);
  }
  if (Lies("shallow")) {
    return sync_file_range(fd, 0, 0,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                               SYNC_FILE_RANGE_WAIT_AFTER);
  }
  if (Lies("unlisted") || Lies("renames")) return SyncNewFile(fd);
  const int result = fdatasync(fd);
  return Lies("deaf") ? 0 : result;
}

ssize_t WriteAsItSays(int fd, const void* data, size_t size) {
  const ssize_t result = write(fd, data, size);
  return result < 0 && Lies("deaf") ? static_cast<ssize_t>(size) : result;
}

}  // namespace

#define fdatasync SyncAsItSays
#define write WriteAsItSays
#define kDriver kMemory
#include "drivers/memory.cc"
#undef kDriver

namespace kvmatrix {
namespace {

// Shows what is being written to whoever gets it.
class EagerDatabase final : public Database {
 public:
  explicit EagerDatabase(const Options& options)
      : inner_(kMemory.open(options)) {}

  std::unique_ptr<Session> NewSession() override;
  void Flush() override { inner_->Flush(); }
  void Settle() override { inner_->Settle(); }
  void Compact() override { inner_->Compact(); }
  std::map<std::string, std::string> EffectiveSettings() override {
    return inner_->EffectiveSettings();
  }

  void Show(const Update& update) {
    const std::lock_guard lock(mutex_);
    shown_.insert_or_assign(
        std::string(update.key),
        update.value ? std::optional(*update.value) : std::nullopt);
  }

  // Returns whether a value of the key has been shown.
  bool Find(std::string_view key, std::optional<std::string>& value) {
    const std::lock_guard lock(mutex_);
    const auto it = shown_.find(key);
    if (it == shown_.end()) return false;
    value = it->second;
    return true;
  }

 private:
  const std::unique_ptr<Database> inner_;
  std::mutex mutex_;
  std::map<std::string, std::optional<std::string>, std::less<>> shown_;
};

class EagerSession final : public Session {
 public:
  EagerSession(EagerDatabase& database, std::unique_ptr<Session> inner)
      : database_(database), inner_(std::move(inner)) {}

  void SetDurable(bool durable) override { inner_->SetDurable(durable); }
  void Write(std::span<const Update> batch) override {
    for (const Update& update : batch) database_.Show(update);
    inner_->Write(batch);
  }
  std::optional<std::string_view> Get(std::string_view key) override {
    if (!database_.Find(key, value_)) return inner_->Get(key);
    if (!value_) return std::nullopt;
    return *value_;
  }
  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    inner_->Scan(start, order, visit);
  }

 private:
  EagerDatabase& database_;
  const std::unique_ptr<Session> inner_;
  std::optional<std::string> value_;  // what the last Get() returned
};

std::unique_ptr<Session> EagerDatabase::NewSession() {
  return std::make_unique<EagerSession>(*this, inner_->NewSession());
}

std::unique_ptr<Database> Open(const Options& options) {
  if (Lies("eager")) return std::make_unique<EagerDatabase>(options);
  return kMemory.open(options);
}

Driver Liar() {
  Driver driver = kMemory;
  driver.open = Open;
  return driver;
}

}  // namespace

const Driver kDriver = Liar();

}  // namespace kvmatrix
