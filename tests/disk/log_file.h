// The log of a test, in a folder of its own, read back.

#ifndef TESTS_DISK_LOG_FILE_H_
#define TESTS_DISK_LOG_FILE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "common/disk/write_log.h"

namespace kvmatrix {

// A path for the log of a test; the file is deleted at the end.
class LogFile {
 public:
  LogFile()
      : path_(testing::TempDir() + "/write_log." + std::to_string(getpid())) {}
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Returns field `index` of sector `sector`, whose fields have eight bytes.
  uint64_t Field(uint64_t sector, uint64_t index) const {
    const std::string bytes = Bytes();
    uint64_t value = 0;
    const uint64_t at = sector * kSectorBytes + index * sizeof(value);
    EXPECT_LE(at + sizeof(value), bytes.size());
    if (at + sizeof(value) <= bytes.size())
      std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  }

  // Returns the number of whole sectors.
  uint64_t Sectors() const {
    const uint64_t bytes = std::filesystem::file_size(path_);
    EXPECT_EQ(bytes % kSectorBytes, 0u);
    return bytes / kSectorBytes;
  }

 private:
  const std::string path_;
};

}  // namespace kvmatrix

#endif  // TESTS_DISK_LOG_FILE_H_
