#include "drivers/plugins/conduct.h"

#include <pthread.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "common/cli/console.h"

namespace kvmatrix {
namespace {

constexpr std::chrono::seconds kPatience(5);
constexpr std::chrono::milliseconds kPause(1);

sigset_t SignalMask() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return mask;
}

// Returns the first signal that only one of the sets has; 0 if they are equal.
int Difference(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&a, signal) != sigismember(&b, signal)) return signal;
  }
  return 0;
}

}  // namespace

Conduct::Conduct(const char* call) : call_(call), mask_(SignalMask()) {}

void Conduct::Check() const {
  const std::string start = std::string("the plug-in's ") + call_;
  if (const int signal = Difference(mask_, SignalMask()); signal != 0) {
    throw std::runtime_error(start +
                             " changed the signal mask of its caller (" +
                             sigabbrev_np(signal) + "); it must restore it");
  }
  const std::string output = ForeignOutput();
  if (!output.empty()) {
    throw std::runtime_error(
        "the plug-in wrote to standard output, which "
        "belongs to the results, at the latest in its " +
        std::string(call_) + ": '" + output + "'");
  }
}

size_t CountThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

void RequireThreadsEnded(size_t before) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (CountThreads() > before) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(
          "the plug-in left " + std::to_string(CountThreads() - before) +
          " of its threads running when the database was closed; it must end "
          "them, or "
          "declare KVM_KEEPS_THREADS if they are those of a language's "
          "runtime");
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace kvmatrix
