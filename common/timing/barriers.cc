#include "common/timing/barriers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace kvmatrix {
namespace {

std::atomic<uint64_t> barriers = 0;
std::atomic<int> confined_to = -1;  // a descriptor; -1: sync() is not confined

// Returns what the system call returns, and sets errno as it does.
template <typename... Arguments>
int Count(long number, Arguments... arguments) {
  barriers.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(number, arguments...));
}

}  // namespace

uint64_t Barriers() { return barriers.load(std::memory_order_relaxed); }

void ConfineSync(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), folder.string());
  confined_to = fd;
}

}  // namespace kvmatrix

extern "C" {

int fsync(int file) { return kvmatrix::Count(SYS_fsync, file); }
int fdatasync(int file) { return kvmatrix::Count(SYS_fdatasync, file); }
int syncfs(int file) noexcept { return kvmatrix::Count(SYS_syncfs, file); }
void sync() noexcept {
  const int fd = kvmatrix::confined_to;
  fd < 0 ? kvmatrix::Count(SYS_sync) : kvmatrix::Count(SYS_syncfs, fd);
}

int msync(void* start, size_t size, int flags) {
  if ((flags & MS_SYNC) != 0) {
    return kvmatrix::Count(SYS_msync, start, size, flags);
  }
  return static_cast<int>(syscall(SYS_msync, start, size, flags));
}

}  // extern "C"
