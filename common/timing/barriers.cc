#include "common/timing/barriers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace kvmatrix {
namespace {

std::atomic<uint64_t> barriers = 0;
std::atomic<bool> skips = false;
std::atomic<int> confined_to = -1;  // a descriptor; -1: sync() is not confined

// By descriptor: whether it may be that of a file opened with O_DSYNC or
// O_SYNC.  A descriptor can be closed where nobody here sees it.
constexpr size_t kMostFiles = 1 << 16;
std::array<std::atomic<bool>, kMostFiles> may_be_durable;

// Returns what the system call returns, and sets errno as it does.
template <typename... Arguments>
int Count(long number, Arguments... arguments) {
  barriers.fetch_add(1, std::memory_order_relaxed);
  if (skips) return 0;
  return static_cast<int>(syscall(number, arguments...));
}

int Open(int folder, const char* path, int flags, mode_t mode) {
  const long file = syscall(SYS_openat, folder, path, flags, mode);
  // O_SYNC includes the bit of O_DSYNC.
  const bool is_durable = (flags & O_DSYNC) != 0;
  if (file >= 0 && static_cast<size_t>(file) < kMostFiles) {
    std::atomic<bool>& known = may_be_durable[static_cast<size_t>(file)];
    if (known.load(std::memory_order_relaxed) != is_durable)
      known.store(is_durable, std::memory_order_relaxed);
  }
  return static_cast<int>(file);
}

[[gnu::noinline]] bool AsksKernel(int file) {
  const int error = errno;
  const long flags = syscall(SYS_fcntl, file, F_GETFL);
  errno = error;
  return flags >= 0 && (flags & O_DSYNC) != 0;
}

// True if what is written to the file is on the disk when the write returns.
bool IsDurable(int file) {
  const auto index = static_cast<size_t>(file);  // of -1: a very large one
  if (index < kMostFiles &&
      !may_be_durable[index].load(std::memory_order_relaxed)) [[likely]] {
    return false;
  }
  return AsksKernel(file);
}

// Performs a write, and counts it if it is a barrier.
template <typename... Arguments>
ssize_t Write(bool is_durable, long number, Arguments... arguments) {
  if (is_durable) [[unlikely]]
    barriers.fetch_add(1, std::memory_order_relaxed);
  return syscall(number, arguments...);
}

}  // namespace

uint64_t Barriers() { return barriers.load(std::memory_order_relaxed); }

void SkipSyncs() { skips = true; }

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

// Under the names of the C library.  The mode is garbage where a caller does
// not pass one; the kernel then ignores it.
int OpenFile(const char* path, int flags, mode_t mode) asm("open");
int OpenFile(const char* path, int flags, mode_t mode) {
  return kvmatrix::Open(AT_FDCWD, path, flags, mode);
}
int OpenFileAt(int folder, const char* path, int flags,
               mode_t mode) asm("openat");
int OpenFileAt(int folder, const char* path, int flags, mode_t mode) {
  return kvmatrix::Open(folder, path, flags, mode);
}

ssize_t write(int file, const void* data, size_t size) {
  return kvmatrix::Write(kvmatrix::IsDurable(file), SYS_write, file, data,
                         size);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return kvmatrix::Write(kvmatrix::IsDurable(file), SYS_pwrite64, file, data,
                         size, at);
}

ssize_t writev(int file, const iovec* parts, int count) {
  return kvmatrix::Write(kvmatrix::IsDurable(file), SYS_writev, file, parts,
                         count);
}

// The kernel takes an offset in two halves, of which the second is unused.
ssize_t pwritev(int file, const iovec* parts, int count, off_t at) {
  return kvmatrix::Write(kvmatrix::IsDurable(file), SYS_pwritev, file, parts,
                         count, at, 0L);
}

ssize_t pwritev2(int file, const iovec* parts, int count, off_t at, int flags) {
  const bool is_durable =
      (flags & (RWF_DSYNC | RWF_SYNC)) != 0 || kvmatrix::IsDurable(file);
  return kvmatrix::Write(is_durable, SYS_pwritev2, file, parts, count, at, 0L,
                         flags);
}

// The same functions, as 64-bit programs and fortified ones call them.
#define ALIAS(target) [[gnu::alias(#target)]]
ALIAS(open) int OpenFile64(const char*, int, mode_t) asm("open64");
ALIAS(open) int OpenChecked(const char*, int, mode_t) asm("__open_2");
ALIAS(open) int OpenChecked64(const char*, int, mode_t) asm("__open64_2");
ALIAS(openat) int OpenAt64(int, const char*, int, mode_t) asm("openat64");
ALIAS(openat)
int OpenAtChecked(int, const char*, int, mode_t) asm("__openat_2");
ALIAS(openat)
int OpenAtChecked64(int, const char*, int, mode_t) asm("__openat64_2");
ALIAS(pwrite) ssize_t pwrite64(int, const void*, size_t, off64_t);
ALIAS(pwritev) ssize_t pwritev64(int, const iovec*, int, off64_t);
ALIAS(pwritev2) ssize_t pwritev64v2(int, const iovec*, int, off64_t, int);
#undef ALIAS

}  // extern "C"
