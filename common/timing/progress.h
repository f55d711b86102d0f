// A counter of completed operations that another process can watch.

#ifndef COMMON_TIMING_PROGRESS_H_
#define COMMON_TIMING_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// Eight bytes, in the machine's byte order, in a file that is mapped into
// memory (--progress).  The watcher reads the file and costs the watched
// process nothing.  It sees the operations of the current benchmark, as of the
// last check of the clock by each thread's meter: the first ones at once, and 0
// while the database is opened.  An audit counts the entries that it visits.
//
// Thread-safe: the meters of all threads count in one.
class Progress {
 public:
  // Creates `file`, or truncates or extends it to eight bytes, and sets it to
  // 0; counts without a file if the name is empty.  Throws std::system_error,
  // which names --progress and the file, if the file cannot be created.
  explicit Progress(const std::filesystem::path& file);

  // Unmaps the file, which stays with its last count.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Starts counting at 0.  Called before each benchmark.
  // REQUIRES: no thread calls Add() meanwhile, or its operations may be lost
  void Reset() {
    std::atomic_ref(*counter_).store(0, std::memory_order_relaxed);
  }

  // Counts `operations` more.  Relaxed order: the count orders nothing else.
  void Add(uint64_t operations) {
    std::atomic_ref(*counter_).fetch_add(operations, std::memory_order_relaxed);
  }

 private:
  uint64_t unwatched_ = 0;  // the counter if there is no file
  uint64_t* counter_ = &unwatched_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_PROGRESS_H_
