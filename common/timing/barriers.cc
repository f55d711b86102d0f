#include "common/timing/barriers.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace kvmatrix {
namespace {

std::atomic<uint64_t> barriers = 0;

// Returns what the system call returns, and sets errno as it does.
template <typename... Arguments>
int Count(long number, Arguments... arguments) {
  barriers.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(number, arguments...));
}

}  // namespace

uint64_t Barriers() { return barriers.load(std::memory_order_relaxed); }

}  // namespace kvmatrix

extern "C" {

int fsync(int file) { return kvmatrix::Count(SYS_fsync, file); }
int fdatasync(int file) { return kvmatrix::Count(SYS_fdatasync, file); }
int syncfs(int file) noexcept { return kvmatrix::Count(SYS_syncfs, file); }
void sync() noexcept { kvmatrix::Count(SYS_sync); }

int msync(void* start, size_t size, int flags) {
  if ((flags & MS_SYNC) != 0) {
    return kvmatrix::Count(SYS_msync, start, size, flags);
  }
  return static_cast<int>(syscall(SYS_msync, start, size, flags));
}

}  // extern "C"
