// A counter of finished operations that another process can watch.

#ifndef COMMON_TIMING_PROGRESS_H_
#define COMMON_TIMING_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// Eight bytes, in the machine's byte order, of a file mapped into memory: the
// watcher reads the file and costs the watched nothing.
class Progress {
 public:
  // Counts into nothing if `file` is empty.  Throws std::system_error if the
  // file cannot be made.
  explicit Progress(const std::filesystem::path& file);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Begins anew.
  void Reset() {
    std::atomic_ref(*counter_).store(0, std::memory_order_relaxed);
  }

  // So many more have finished.  Thread-safe.
  void Add(uint64_t operations) {
    std::atomic_ref(*counter_).fetch_add(operations, std::memory_order_relaxed);
  }

 private:
  uint64_t unwatched_ = 0;
  uint64_t* counter_ = &unwatched_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_PROGRESS_H_
