// A counter of completed operations that another process can watch.

#ifndef COMMON_TIMING_PROGRESS_H_
#define COMMON_TIMING_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// Eight bytes, in the machine's byte order, in a file that is mapped into
// memory.  The watcher reads the file and costs the watched process nothing.
// Thread-safe.
class Progress {
 public:
  // Creates `file`, or counts without a file if the name is empty.  Throws
  // std::system_error if the file cannot be created.
  explicit Progress(const std::filesystem::path& file);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Starts counting at 0.
  void Reset() {
    std::atomic_ref(*counter_).store(0, std::memory_order_relaxed);
  }

  // Counts `operations` more.
  void Add(uint64_t operations) {
    std::atomic_ref(*counter_).fetch_add(operations, std::memory_order_relaxed);
  }

 private:
  uint64_t unwatched_ = 0;
  uint64_t* counter_ = &unwatched_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_PROGRESS_H_
