// Detects that other threads of this process are waiting, so that a test can
// continue at that moment instead of after some time.

#ifndef TESTS_RUNNER_WAITING_H_
#define TESTS_RUNNER_WAITING_H_

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace kvmatrix {
namespace internal {

struct Yields {
  std::mutex mutex;
  std::condition_variable more;
  uint64_t count = 0;
};
inline Yields yields;

// Also false if a thread has ended meanwhile.
inline bool OthersSleep() {
  const std::string self = std::to_string(gettid());
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == self) continue;
    std::string text;
    std::getline(std::ifstream(task.path() / "stat"), text);
    const size_t name_end = text.rfind(')');
    if (name_end == text.npos || text.compare(name_end, 3, ") S") != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace internal

// Number of calls of std::this_thread::yield() by all threads: Oracle::Claim()
// waits by calling it.
inline uint64_t Yields() {
  const std::lock_guard lock(internal::yields.mutex);
  return internal::yields.count;
}

// Returns once there have been that many calls.
inline void AwaitYields(uint64_t count) {
  std::unique_lock lock(internal::yields.mutex);
  internal::yields.more.wait(
      lock, [count] { return internal::yields.count >= count; });
}

// Returns once all other threads of the process sleep, each until another
// thread wakes it.  Threads are examined one by one, and therefore twice.
inline void AwaitOthersAsleep() {
  while (!internal::OthersSleep() || !internal::OthersSleep()) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace kvmatrix

// Replaces the C library's function.
extern "C" [[gnu::used]] inline int sched_yield() noexcept {
  {
    const std::lock_guard lock(kvmatrix::internal::yields.mutex);
    ++kvmatrix::internal::yields.count;
  }
  kvmatrix::internal::yields.more.notify_all();
  return static_cast<int>(syscall(SYS_sched_yield));
}

#endif  // TESTS_RUNNER_WAITING_H_
