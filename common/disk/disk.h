// A disk in memory of which everything that changes it is recorded.

#ifndef COMMON_DISK_DISK_H_
#define COMMON_DISK_DISK_H_

#include <cstdint>
#include <span>
#include <string>

#include "common/disk/write_log.h"

namespace kvmatrix {

// Begins as zeros, of which no memory is used.  Not thread-safe.
class Disk {
 public:
  // `bytes` is the size of the disk; the log must outlive it.  Throws
  // std::system_error.
  Disk(uint64_t bytes, WriteLog& log);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk();

  // Fills the disk from a file, which is not recorded.  Throws
  // std::system_error, also if the file is larger than the disk.
  void Load(const std::string& file);

  uint64_t bytes() const { return bytes_; }

  // True if these bytes are on the disk, and whole sectors.
  bool Has(uint64_t offset, uint64_t bytes) const;

  // REQUIRES: Has(offset, bytes), and for the others below too
  std::span<const char> Read(uint64_t offset, uint64_t bytes) const;
  void Write(uint64_t offset, std::span<const char> data);
  void Discard(uint64_t offset, uint64_t bytes);  // which makes them zeros

  // Records that everything before is on the disk.
  void Flush() { log_.Append(LogEvent::kFlush, 0, 0, {}); }

 private:
  // Copies a file to the disk; returns 0 or the number of an error.
  int Copy(int fd);

  const uint64_t bytes_;
  WriteLog& log_;
  char* const data_;
};

}  // namespace kvmatrix

#endif  // COMMON_DISK_DISK_H_
