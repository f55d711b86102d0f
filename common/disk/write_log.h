// A log of what reaches a disk, in the format of the Linux target
// dm-log-writes (Documentation/admin-guide/device-mapper/log-writes.rst), which
// its replay-log and other tools read.
//
// The file begins with a super block; each entry is a header followed by its
// data, all in whole sectors.  Bytes 32 to 39 of a header, which the format
// does not use, hold the time of the entry: CLOCK_MONOTONIC in nanoseconds.

#ifndef COMMON_DISK_WRITE_LOG_H_
#define COMMON_DISK_WRITE_LOG_H_

#include <cstdint>
#include <span>
#include <string>

namespace kvmatrix {

inline constexpr uint64_t kSectorBytes = 512;

// What an entry says has happened.
enum class LogEvent : uint64_t {
  kWrite = 0,
  kFlush = 1,    // everything before it is on the disk
  kDiscard = 4,  // the bytes are zeros now
};

// Appends to one file.  Not thread-safe.
class WriteLog {
 public:
  // Creates the file, or truncates it.  Throws std::system_error.
  explicit WriteLog(const std::string& file);
  WriteLog(const WriteLog&) = delete;
  WriteLog& operator=(const WriteLog&) = delete;
  ~WriteLog();

  // Appends one entry in one call of the system.  `data` is what was written,
  // and empty otherwise; `bytes` is the length of a write or a discard.
  // Throws std::system_error, after which the log ends with the entry before.
  // REQUIRES: offset and bytes are multiples of kSectorBytes
  void Append(LogEvent event, uint64_t offset, uint64_t bytes,
              std::span<const char> data);

  // Writes the number of entries into the super block.  Throws
  // std::system_error.
  void Finish();

  uint64_t entries() const { return entries_; }

 private:
  void Write(std::span<const char> head, std::span<const char> data);
  void WriteSuperBlock();

  [[noreturn]] void ThrowErrno() const;

  const std::string file_;
  const int fd_;
  uint64_t entries_ = 0;
  uint64_t end_ = 0;  // bytes of complete entries
};

}  // namespace kvmatrix

#endif  // COMMON_DISK_WRITE_LOG_H_
