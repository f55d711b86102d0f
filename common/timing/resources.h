// What this process has used of the machine.
//
// All values come from the kernel's counters.  Each counter misses something,
// and its limits are stated with the field.

#ifndef COMMON_TIMING_RESOURCES_H_
#define COMMON_TIMING_RESOURCES_H_

#include <cstdint>
#include <filesystem>

#include "common/timing/device.h"

namespace kvmatrix {

// Counters of this process: all of its threads, and child processes that have
// ended and been waited for.  Children that are still running are not included.
//
// CPU times, faults and context switches are those of getrusage(2).  The sum of
// the CPU times is exact for the calling thread; a thread that is running at
// the moment may be behind by a tick of the kernel (10 ms at most).  The
// division into user and system time is sampled by that tick.
//
// Bytes are those of /proc/self/io.  read_bytes and written_bytes (rchar,
// wchar) were passed to read and write calls: they miss accesses through a
// memory map and the file system's journal, and include pipes and terminals.
// storage_read_bytes (read_bytes) were fetched from the device, including
// read-ahead and mapped pages: exact where it was compared with the device's
// own counter.  storage_written_bytes (write_bytes) were dirtied to be written
// some time: a page, or a larger folio, is counted once while it stays dirty;
// the journal is missed, and data deleted before it was written is included.
struct Resources {
  uint64_t cpu_user_ns = 0;
  uint64_t cpu_system_ns = 0;
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t voluntary_switches = 0;
  uint64_t involuntary_switches = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  uint64_t storage_read_bytes = 0;
  uint64_t storage_written_bytes = 0;
  uint64_t barriers = 0;        // see timing/barriers.h
  uint64_t own_read_bytes = 0;  // read by Now() itself, after counting
  DeviceCounters device = {};   // zeros unless WatchDevice() was called

  // Returns the counters since the start of the process.  Costs about 3 us.
  // Throws std::system_error or std::runtime_error if the kernel does not keep
  // them.
  static Resources Now();

  // Returns what was used since `earlier`, without what that call read.
  Resources Since(const Resources& earlier) const;

  Resources& operator+=(const Resources& more);

  uint64_t cpu_ns() const { return cpu_user_ns + cpu_system_ns; }
};

// Returns the CPU time that the calling thread has used, to the nanosecond.
uint64_t ThreadCpuNs();

// Memory of this process, from /proc/self/status.  The kernel adds up its
// per-processor counts only now and then: values can be off by some hundred KiB
// per processor.
struct ResidentMemory {
  uint64_t peak_bytes = 0;       // VmHWM: maximum since the process started
  uint64_t anonymous_bytes = 0;  // RssAnon + RssShmem, now: heap, stacks and
                                 // shared memory that is no file of a disk
  uint64_t file_bytes = 0;       // RssFile, now: mapped files, including the
                                 // program's own

  // Where the file system of the database is in memory (tmpfs), or may be below
  // an overlay, mapped files are shared memory to the kernel: all of that is
  // then of files.
  // Costs about 5 us.  Throws like Resources::Now().  The peak is not
  // ru_maxrss, which a process inherits from its parent.
  static ResidentMemory Now(const std::filesystem::path& database);
};

// Returns the bytes allocated on disk for all files below `directory`, or 0 if
// it does not exist.  Includes preallocated space and data that the file system
// has not placed yet; misses files that are deleted but still open, and files
// that vanish during the call.
uint64_t DiskBytes(const std::filesystem::path& directory);

}  // namespace kvmatrix

#endif  // COMMON_TIMING_RESOURCES_H_
