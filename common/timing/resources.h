// What this process has used of the machine.
//
// Every figure comes from the kernel's own counters, and each counter misses
// something; its limits are said here, with the figure.

#ifndef COMMON_TIMING_RESOURCES_H_
#define COMMON_TIMING_RESOURCES_H_

#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// Counters of this process: all of its threads, and those child processes that
// have ended and been waited for.  A child that still runs is not counted.
//
// CPU times, faults and switches are those of getrusage(2).  The sum of the CPU
// times is exact for the calling thread; a thread that runs at the moment of
// asking is behind by up to one tick of the kernel (10 ms at most).  How the
// sum is split into user and system time is sampled by that tick.
//
// Bytes are those of /proc/self/io.  read_bytes and written_bytes (rchar and
// wchar) are what was passed to read and write calls: they miss loads and
// stores through a memory map and the file system's own journal, and they count
// pipes and terminals.  storage_read_bytes (read_bytes) is what was fetched
// from the storage device, read-ahead and mapped pages included: exact where it
// was compared with the device's own counter.  storage_written_bytes
// (write_bytes) is what was dirtied to be sent to the device some time: it
// counts a page or a larger folio once while it stays dirty, misses the
// journal, and keeps what was deleted before it was ever sent.
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
  uint64_t own_read_bytes = 0;  // that Now() itself read, after it had counted

  // Costs some 3 us.  Throws if the kernel does not keep these counters.
  static Resources Now();

  // What was used since `earlier`, less what asking at that moment read.
  Resources Since(const Resources& earlier) const;

  Resources& operator+=(const Resources& more);

  uint64_t cpu_ns() const { return cpu_user_ns + cpu_system_ns; }
};

// Memory of this process, of /proc/self/status.  The kernel sums what each
// processor has counted only now and then: a figure can be off by some hundred
// KiB per processor.
struct ResidentMemory {
  uint64_t peak_bytes = 0;       // VmHWM: the most since the process started
  uint64_t anonymous_bytes = 0;  // RssAnon, now: heap and stacks
  uint64_t file_bytes = 0;       // RssFile + RssShmem, now: mapped files, the
                                 // program's own among them

  // Costs some 5 us.  Throws if the kernel does not tell.  The peak is not
  // ru_maxrss, which a process inherits from the one that started it.
  static ResidentMemory Now();
};

// Bytes allocated on disk for all files below `directory`, or 0 if it is not
// there.  Counts what is preallocated, and what the file system has not placed
// yet; misses files that are deleted and still open, and a file that vanishes
// meanwhile.
uint64_t DiskBytes(const std::filesystem::path& directory);

// What this process uses while the calling thread sleeps for 10 ms: the work of
// an engine's other threads.  The sleep begins after a millisecond of grace, in
// which a thread that has just finished its work may lie down; its time would
// otherwise be counted late.
Resources UsedWhileIdle();

}  // namespace kvmatrix

#endif  // COMMON_TIMING_RESOURCES_H_
