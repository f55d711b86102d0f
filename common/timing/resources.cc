#include "common/timing/resources.h"

#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "common/timing/barriers.h"

namespace kvmatrix {
namespace {

uint64_t ToNs(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1'000;
}

void AddUsage(int who, Resources& sum) {
  rusage usage;
  getrusage(who, &usage);
  sum.cpu_user_ns += ToNs(usage.ru_utime);
  sum.cpu_system_ns += ToNs(usage.ru_stime);
  sum.minor_faults += static_cast<uint64_t>(usage.ru_minflt);
  sum.major_faults += static_cast<uint64_t>(usage.ru_majflt);
  sum.voluntary_switches += static_cast<uint64_t>(usage.ru_nvcsw);
  sum.involuntary_switches += static_cast<uint64_t>(usage.ru_nivcsw);
}

// A small file of /proc with lines of "name: number", read with a single call:
// the kernel generates the text at the moment of the read.
class ProcFile {
 public:
  explicit ProcFile(const char* path) : path_(path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, text_ + 1, kMaxSize);
    const int error = errno;
    if (file >= 0) close(file);
    if (size < 0) throw std::system_error(error, std::generic_category(), path);
    size_ = static_cast<size_t>(size);
    text_[0] = '\n';
    text_[1 + size_] = '\0';
  }

  size_t size() const { return size_; }

  // Returns the number on the line that starts with `start`, which begins with
  // the newline before it, so that "read_bytes" does not match
  // "cancelled_read_bytes".
  uint64_t operator[](std::string_view start) const {
    const size_t at = std::string_view(text_, 1 + size_).find(start);
    if (at == std::string_view::npos) {
      throw std::runtime_error(std::string(path_) + " has no line " +
                               std::string(start.substr(1)));
    }
    return std::strtoull(text_ + at + start.size(), nullptr, 10);
  }

 private:
  static constexpr size_t kMaxSize = 16'384;

  const char* const path_;
  char text_[kMaxSize + 2];
  size_t size_;
};

}  // namespace

uint64_t ThreadCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_nsec);
}

Resources Resources::Now() {
  Resources now;
  AddUsage(RUSAGE_SELF, now);
  AddUsage(RUSAGE_CHILDREN, now);
  const ProcFile io("/proc/self/io");
  now.read_bytes = io["\nrchar:"];
  now.written_bytes = io["\nwchar:"];
  now.storage_read_bytes = io["\nread_bytes:"];
  now.storage_written_bytes = io["\nwrite_bytes:"];
  now.barriers = Barriers();
  now.device = DeviceCounters::Now();
  now.own_read_bytes = io.size() + now.device.own_read_bytes;
  return now;
}

Resources Resources::Since(const Resources& earlier) const {
  return {cpu_user_ns - earlier.cpu_user_ns,
          cpu_system_ns - earlier.cpu_system_ns,
          minor_faults - earlier.minor_faults,
          major_faults - earlier.major_faults,
          voluntary_switches - earlier.voluntary_switches,
          involuntary_switches - earlier.involuntary_switches,
          read_bytes - earlier.read_bytes - earlier.own_read_bytes,
          written_bytes - earlier.written_bytes,
          storage_read_bytes - earlier.storage_read_bytes,
          storage_written_bytes - earlier.storage_written_bytes,
          barriers - earlier.barriers,
          0,
          device.Since(earlier.device)};
}

Resources& Resources::operator+=(const Resources& more) {
  cpu_user_ns += more.cpu_user_ns;
  cpu_system_ns += more.cpu_system_ns;
  minor_faults += more.minor_faults;
  major_faults += more.major_faults;
  voluntary_switches += more.voluntary_switches;
  involuntary_switches += more.involuntary_switches;
  read_bytes += more.read_bytes;
  written_bytes += more.written_bytes;
  storage_read_bytes += more.storage_read_bytes;
  storage_written_bytes += more.storage_written_bytes;
  barriers += more.barriers;
  device += more.device;
  return *this;
}

ResidentMemory ResidentMemory::Now(const std::filesystem::path& database) {
  const ProcFile status("/proc/self/status");
  const uint64_t shared_bytes = status["\nRssShmem:"] * 1024;
  struct statfs place = {};
  statfs(database.c_str(), &place);
  const bool is_in_memory =
      place.f_type == TMPFS_MAGIC || place.f_type == OVERLAYFS_SUPER_MAGIC;
  return {status["\nVmHWM:"] * 1024,
          status["\nRssAnon:"] * 1024 + (is_in_memory ? 0 : shared_bytes),
          status["\nRssFile:"] * 1024 + (is_in_memory ? shared_bytes : 0)};
}

uint64_t DiskBytes(const std::filesystem::path& directory) {
  std::string name = directory.string();
  char* const roots[] = {name.data(), nullptr};
  FTS* const tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, nullptr);
  if (tree == nullptr) throw std::system_error(errno, std::generic_category());
  uint64_t bytes = 0;
  while (const FTSENT* entry = fts_read(tree)) {
    const bool counts = entry->fts_info == FTS_F || entry->fts_info == FTS_D;
    if (!counts || entry->fts_level == FTS_ROOTLEVEL) continue;
    // st_blocks is in units of 512 bytes, whatever the block size (stat(2)).
    bytes += static_cast<uint64_t>(entry->fts_statp->st_blocks) * 512;
  }
  fts_close(tree);
  return bytes;
}

}  // namespace kvmatrix
