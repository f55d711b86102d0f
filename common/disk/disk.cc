#include "common/disk/disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace kvmatrix {
namespace {

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

char* Reserve(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) ThrowErrno("the memory of the disk");
  return static_cast<char*>(memory);
}

}  // namespace

Disk::Disk(uint64_t bytes, WriteLog& log)
    : bytes_(bytes), log_(log), data_(Reserve(bytes)) {}

Disk::~Disk() { munmap(data_, bytes_); }

void Disk::Load(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) ThrowErrno(file);
  const int error = Copy(fd);
  close(fd);
  if (error != 0) throw std::system_error(error, std::generic_category(), file);
}

int Disk::Copy(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return errno;
  if (static_cast<uint64_t>(status.st_size) > bytes_) return EFBIG;
  off_t at = 0;
  // Skips the holes of a sparse file, which would cost memory here.
  while ((at = lseek(fd, at, SEEK_DATA)) >= 0) {
    const off_t end = lseek(fd, at, SEEK_HOLE);
    while (at < end) {
      const ssize_t size = pread(fd, data_ + at, end - at, at);
      if (size <= 0) return size < 0 ? errno : EIO;
      at += size;
    }
  }
  return errno == ENXIO ? 0 : errno;  // ENXIO: no data from there on
}

bool Disk::Has(uint64_t offset, uint64_t bytes) const {
  return offset <= bytes_ && bytes <= bytes_ - offset &&
         offset % kSectorBytes == 0 && bytes % kSectorBytes == 0;
}

std::span<const char> Disk::Read(uint64_t offset, uint64_t bytes) const {
  return {data_ + offset, bytes};
}

void Disk::Write(uint64_t offset, std::span<const char> data) {
  log_.Append(LogEvent::kWrite, offset, data.size(), data);
  std::memcpy(data_ + offset, data.data(), data.size());
}

void Disk::Discard(uint64_t offset, uint64_t bytes) {
  log_.Append(LogEvent::kDiscard, offset, bytes, {});
  // Whole pages are given back to the system, so that they take no memory.
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t end = offset + bytes;
  const uint64_t first = std::min(end, (offset + page - 1) / page * page);
  const uint64_t last = std::max(first, end / page * page);
  std::memset(data_ + offset, 0, first - offset);
  if (madvise(data_ + first, last - first, MADV_DONTNEED) != 0)
    std::memset(data_ + first, 0, last - first);
  std::memset(data_ + last, 0, end - last);
}

}  // namespace kvmatrix
