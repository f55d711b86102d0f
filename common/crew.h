// Threads that run one loop together: a common start, a common end, and a word
// that one of them has failed.

#ifndef COMMON_CREW_H_
#define COMMON_CREW_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "common/clock.h"
#include "common/resources.h"

namespace kvmatrix {

// All members are threads of one Run(), each of which calls Start() once.
class Crew {
 public:
  // So many members measure, and so many more help them until they are done.
  Crew(Clock& clock, uint64_t measured, uint64_t helpers)
      : clock_(clock), members_(measured + helpers), measured_(measured) {}

  // Calls `body` with 0, 1, ... on a thread of its own for each member, the
  // measured ones first; returns when all have ended.  Throws what the first
  // that failed has thrown.
  void Run(const std::function<void(uint64_t)>& body);

  // Returns once every member has called it, with the time of that moment.
  // Throws std::runtime_error if a member has failed.
  uint64_t Start();

  // That moment.  REQUIRES: Start() has returned
  uint64_t start_ns() const { return start_ns_; }

  // A measured member has ended its loop.
  void Finish();

  // True once every measured member has ended its loop, or one has failed.
  bool finished() const {
    return unfinished_.load(std::memory_order_acquire) == 0 || failed();
  }

  // True once a member has failed: the others are to end their loops.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // What the process used from the start until the last measured loop ended.
  const Resources& used() const { return used_; }

 private:
  void Fail();

  Clock& clock_;
  const uint64_t members_;
  const uint64_t measured_;
  std::mutex mutex_;  // guards those below it
  std::condition_variable start_;
  uint64_t arrived_ = 0;
  uint64_t start_ns_ = 0;
  Resources before_;
  Resources used_;
  std::exception_ptr failure_;  // the first

  std::atomic<uint64_t> unfinished_{measured_};
  std::atomic<bool> failed_{false};
};

}  // namespace kvmatrix

#endif  // COMMON_CREW_H_
