// What a block device has done, for everyone who uses it.
//
// The counters are those of the kernel's block layer, so they include what no
// counter of a process does: the file system's journal, read-ahead, and pages
// that are written back after the call that made them dirty has returned.  They
// are those of one process only on a device that nothing else uses.

#ifndef COMMON_TIMING_DEVICE_H_
#define COMMON_TIMING_DEVICE_H_

#include <cstdint>
#include <filesystem>
#include <utility>

namespace kvmatrix {

// Completed requests, from Documentation/block/stat.rst of Linux.  Times are
// sums over requests, which can overlap; the kernel keeps them in milliseconds.
struct DeviceCounters {
  uint64_t reads = 0;
  uint64_t read_bytes = 0;
  uint64_t read_ms = 0;
  uint64_t writes = 0;
  uint64_t written_bytes = 0;
  uint64_t write_ms = 0;
  uint64_t flushes = 0;  // requests to empty the device's own cache
  uint64_t flush_ms = 0;
  uint64_t busy_ms = 0;         // in which at least one request was in flight
  uint64_t own_read_bytes = 0;  // read by Now() itself from the stat file

  // Returns the counters of the watched device; zeros if there is none.  Costs
  // about 5 us.  Throws std::system_error or std::runtime_error if they can no
  // longer be read.
  static DeviceCounters Now();

  DeviceCounters Since(const DeviceCounters& earlier) const;
  DeviceCounters& operator+=(const DeviceCounters& more);
};

// The counters by the names that results have for them.
inline constexpr std::pair<const char*, uint64_t DeviceCounters::*>
    kDeviceCounters[] = {
        {"reads", &DeviceCounters::reads},
        {"read_bytes", &DeviceCounters::read_bytes},
        {"read_ms", &DeviceCounters::read_ms},
        {"writes", &DeviceCounters::writes},
        {"written_bytes", &DeviceCounters::written_bytes},
        {"write_ms", &DeviceCounters::write_ms},
        {"flushes", &DeviceCounters::flushes},
        {"flush_ms", &DeviceCounters::flush_ms},
        {"busy_ms", &DeviceCounters::busy_ms},
};

// Makes DeviceCounters::Now() read `stat`, such as /sys/block/loop0/stat; an
// empty name: none.  Throws UsageError, which names --device_stat, if it is not
// such a file.
// REQUIRES: no other thread reads the counters
void WatchDevice(const std::filesystem::path& stat);

// Writes back everything that the file system of `folder` has in memory.
// Throws std::system_error.
void WriteBack(const std::filesystem::path& folder);

}  // namespace kvmatrix

#endif  // COMMON_TIMING_DEVICE_H_
