// The engine of somebody else's repository: a sorted map in memory, and a
// journal of all changes.  Several threads may read, or one may write.

#ifndef JOURNAL_H_
#define JOURNAL_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <system_error>

class Journal {
 public:
  static constexpr char kVersion[] = "0.3";

  Journal(const std::string& file, bool sync) : sync_(sync) {
    Read(file);
    fd_ = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) Throw();
  }
  ~Journal() { close(fd_); }
  Journal(const Journal&) = delete;

  // A batch: Put() and Delete() collect changes, Commit() makes them.
  void Put(std::string_view key, std::string_view value) {
    Append(1, key, value);
  }
  void Delete(std::string_view key) { Append(0, key, {}); }
  void Commit() {
    const ssize_t size = static_cast<ssize_t>(batch_.size());
    if (write(fd_, batch_.data(), batch_.size()) != size) Throw();
    if (sync_ && fdatasync(fd_) != 0) Throw();
    Apply(batch_);
    batch_.clear();
  }

  std::shared_mutex mutex;  // to be held by callers
  std::map<std::string, std::string, std::less<>> entries;

 private:
  [[noreturn]] static void Throw() {
    throw std::system_error(errno, std::generic_category(), "journal");
  }
  void Append(char put, std::string_view key, std::string_view value) {
    for (const uint64_t size : {key.size(), value.size()}) {
      batch_.append(reinterpret_cast<const char*>(&size), sizeof(size));
    }
    batch_.append(1, put).append(key).append(value);
  }
  void Apply(std::string_view log) {
    constexpr size_t kHead = 2 * sizeof(uint64_t);
    uint64_t sizes[2];
    for (; log.size() > kHead; log.remove_prefix(sizes[0] + sizes[1])) {
      log.copy(reinterpret_cast<char*>(sizes), kHead);
      const bool put = log[kHead] == 1;
      log.remove_prefix(kHead + 1);
      std::string key(log.substr(0, sizes[0]));
      if (put) {
        entries[std::move(key)] = log.substr(sizes[0], sizes[1]);
      } else {
        entries.erase(key);
      }
    }
  }
  void Read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    Apply(std::string(std::istreambuf_iterator<char>(in), {}));
  }

  const bool sync_;
  int fd_ = -1;
  std::string batch_;
};

#endif  // JOURNAL_H_
