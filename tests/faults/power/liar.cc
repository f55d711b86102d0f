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
//   records    has a batch in as many records of its log as it has updates
//   eager      shows others a commit before it is on the disk
//
// Of some, no cut is needed:
//
//   blind      scans nothing
//   timid      scans no empty database
//   shy        scans no database of 4 to 19 entries
//   vast       scans no database of 700 entries or more
//   owned      opens no database of another process
//   late       writes each commit with the next, and the last one never
//
// Of others, barriers cannot be counted:
//
//   raw        syncs without the C library, and does not say so
//   secret     says that it does
//
// Under any other name it is honest; as "renames" it does what "unlisted" does,
// and syncs the name, and as "rebooted" it opens a database again only after a
// reboot.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
  if (Lies("raw")) return static_cast<int>(syscall(SYS_fdatasync, fd));
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
#include "tests/runner/wrapped_driver.h"
#undef kDriver

namespace kvmatrix {
namespace {

// Shows what is being written to whoever gets it, of a database that was new.
class Shown {
 public:
  // From now on, each write waits until another thread has got it.
  void ExpectReader(bool has_reader) { has_reader_ = has_reader; }

  void Add(std::span<const Update> batch) {
    std::unique_lock lock(mutex_);
    for (const auto& [key, value] : batch)
      values_.insert_or_assign(std::string(key),
                               std::string(value.value_or("")));
    if (!has_reader_) return;
    is_read_.wait_for(lock, kPatience,
                      [&] { return last_read_ == batch.front().key; });
    lock.unlock();
    std::this_thread::sleep_for(kNote);
  }

  // Returns the value of a key; empty: it was deleted; nothing: never written.
  std::optional<std::string> Find(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    if (it == values_.end()) return std::nullopt;
    last_read_ = key;
    is_read_.notify_one();
    return it->second;
  }

 private:
  static constexpr std::chrono::seconds kPatience{10};
  // For the reader to record what it has got.
  static constexpr std::chrono::milliseconds kNote{10};

  std::mutex mutex_;
  std::condition_variable is_read_;
  std::map<std::string, std::string, std::less<>> values_;
  std::string last_read_;
  bool has_reader_ = false;
};

// Throws std::runtime_error if the machine has not booted since the last call
// for the folder.
void NoteBoot(const std::filesystem::path& folder) {
  std::string before, now;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> now;
  std::ifstream(folder / "boot") >> before;
  if (now == before) throw std::runtime_error("no boot since the last opening");
  std::ofstream(folder / "boot") << now;
  sync();
}

// Throws std::runtime_error if another process has called it for the folder.
void NoteOwner(const std::filesystem::path& folder) {
  pid_t owner = getpid();
  std::ifstream(folder / "owner") >> owner;
  if (owner != getpid()) throw std::runtime_error("it is not mine");
  std::ofstream(folder / "owner") << owner;
}

// Returns the memory driver that first does something with the folder.
template <auto kFirst>
Driver Noting() {
  Driver driver = kMemory;
  driver.open = [](const Options& options) {
    kFirst(options.path);
    return kMemory.open(options);
  };
  return driver;
}

Driver Blind() {
  Behaviour blind;
  blind.scan = [](Session&, std::string_view, Order, const Visitor&) {};
  return Wrapped(blind);
}

// Returns the memory driver that scans no database of so many entries.
template <int kFewest, int kMost>
Driver FailingWith() {
  Behaviour shy;
  shy.scan = [](Session& session, std::string_view start, Order order,
                const Visitor& visitor) {
    int entries = 0;
    session.Scan("", Order::kForward, [&](std::string_view, std::string_view) {
      return ++entries <= kMost;
    });
    if (kFewest <= entries && entries <= kMost)
      throw std::runtime_error("the cursor is not positioned");
    session.Scan(start, order, visitor);
  };
  return Wrapped(shy);
}

Driver Records() {
  Behaviour records;
  records.write = [](Session& session, std::span<const Update> batch) {
    for (const Update& update : batch) {
      session.SetDurable(&update == &batch.back());
      session.Write({&update, 1});
    }
  };
  return Wrapped(records);
}

Driver Late() {
  Behaviour late;
  late.write = [](Session& session, std::span<const Update> batch) {
    static std::map<std::string, std::optional<std::string>> held;
    std::vector<Update> before;
    for (const auto& [key, value] : held) before.push_back({key, value});
    if (!before.empty()) session.Write(before);
    held.clear();
    for (const auto& [key, value] : batch)
      held[std::string(key)] =
          value ? std::optional<std::string>(*value) : std::nullopt;
  };
  return Wrapped(late);
}

Driver Secret() {
  Driver driver = kMemory;
  driver.hides_barriers = true;
  return driver;
}

Driver Liar() {
  if (Lies("secret")) return Secret();
  if (Lies("rebooted")) return Noting<NoteBoot>();
  if (Lies("owned")) return Noting<NoteOwner>();
  if (Lies("blind")) return Blind();
  if (Lies("timid")) return FailingWith<0, 0>();
  if (Lies("shy")) return FailingWith<4, 19>();
  if (Lies("vast")) return FailingWith<700, 1 << 20>();
  if (Lies("late")) return Late();
  if (Lies("records")) return Records();
  if (!Lies("eager")) return kMemory;
  static Shown shown;
  Behaviour eager;
  eager.write = [](Session& session, std::span<const Update> batch) {
    shown.Add(batch);
    session.Write(batch);
  };
  eager.get = [](Session& session,
                 std::string_view key) -> std::optional<std::string_view> {
    thread_local std::optional<std::string> value;
    value = shown.Find(key);
    if (!value) return session.Get(key);
    if (value->empty()) return std::nullopt;
    return *value;
  };
  static Driver wrapped = Wrapped(eager);
  Driver driver = wrapped;
  driver.open = [](const Options& options) {
    shown.ExpectReader(options.threads > 1);
    return wrapped.open(options);
  };
  return driver;
}

}  // namespace

const Driver kDriver = Liar();

}  // namespace kvmatrix
