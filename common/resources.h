// What this process has used of the machine.

#ifndef COMMON_RESOURCES_H_
#define COMMON_RESOURCES_H_

#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// All threads together (getrusage, RUSAGE_SELF).  read_bytes and written_bytes
// are rchar and wchar of /proc/self/io: bytes passed to read and write calls;
// they miss loads and stores through a memory map and the file system's own
// journal.
struct Resources {
  uint64_t cpu_user_ns = 0;
  uint64_t cpu_system_ns = 0;
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t voluntary_switches = 0;
  uint64_t involuntary_switches = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;

  static Resources Now();

  // What was used since `earlier`.
  Resources Since(const Resources& earlier) const;
};

// The most memory this process ever had resident, in bytes: VmHWM of
// /proc/self/status, or 0 if it cannot be read.  Not ru_maxrss, which a process
// inherits from the one that started it.
uint64_t PeakRssBytes();

// Bytes allocated on disk for all files below `directory`.
uint64_t DiskBytes(const std::filesystem::path& directory);

}  // namespace kvmatrix

#endif  // COMMON_RESOURCES_H_
