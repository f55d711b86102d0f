// Detects that other threads of this process are waiting, so that a test can
// continue at that moment instead of after some time.

#ifndef TESTS_RUNNER_WAITING_H_
#define TESTS_RUNNER_WAITING_H_

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace kvmatrix {
namespace internal {

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

// Returns once all other threads of the process sleep, each until another
// thread wakes it.  Threads are examined one by one, and therefore twice.
inline void AwaitOthersAsleep() {
  while (!internal::OthersSleep() || !internal::OthersSleep()) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace kvmatrix

#endif  // TESTS_RUNNER_WAITING_H_
