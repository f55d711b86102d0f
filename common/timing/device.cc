#include "common/timing/device.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/spec/config.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSectorBytes = 512;  // of every device's stat file
// reads, merged, sectors, ms; writes, the same; in flight, busy, weighted;
// discards, the same four; flushes, ms.
constexpr size_t kFields = 17;

int watched = -1;  // file descriptor of the stat file, never closed

[[noreturn]] void ThrowErrno(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

DeviceCounters DeviceCounters::Now() {
  if (watched < 0) return {};
  std::array<char, 512> text;
  const ssize_t size = pread(watched, text.data(), text.size() - 1, 0);
  if (size < 0) ThrowErrno(errno, "the counters of the device");
  text[static_cast<size_t>(size)] = '\0';
  std::array<uint64_t, kFields> field;
  char* at = text.data();
  for (uint64_t& number : field) {
    char* end = at;
    number = std::strtoull(at, &end, 10);
    if (end == at) throw std::runtime_error("the device has too few counters");
    at = end;
  }
  return {.reads = field[0],
          .read_bytes = field[2] * kSectorBytes,
          .read_ms = field[3],
          .writes = field[4],
          .written_bytes = field[6] * kSectorBytes,
          .write_ms = field[7],
          .flushes = field[15],
          .flush_ms = field[16],
          .busy_ms = field[9],
          .own_read_bytes = static_cast<uint64_t>(size)};
}

DeviceCounters DeviceCounters::Since(const DeviceCounters& earlier) const {
  DeviceCounters since = *this;
  for (const auto& [name, counter] : kDeviceCounters) {
    since.*counter -= earlier.*counter;
  }
  return since;
}

DeviceCounters& DeviceCounters::operator+=(const DeviceCounters& more) {
  for (const auto& [name, counter] : kDeviceCounters) {
    this->*counter += more.*counter;
  }
  return *this;
}

void WatchDevice(const std::filesystem::path& stat) {
  if (watched >= 0) close(watched);
  watched = -1;
  if (stat.empty()) return;
  watched = open(stat.c_str(), O_RDONLY | O_CLOEXEC);
  try {
    if (watched < 0) ThrowErrno(errno, stat.string());
    DeviceCounters::Now();
  } catch (const std::exception& error) {
    throw UsageError(
        "device_stat",
        stat.string() + " is no stat file of a block device: " + error.what());
  }
}

void WriteBack(const std::filesystem::path& folder) {
  const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) ThrowErrno(errno, folder.string());
  const int result = syncfs(handle);
  const int error = errno;
  close(handle);
  if (result != 0) ThrowErrno(error, "syncfs " + folder.string());
}

}  // namespace kvmatrix
