// Threads that run one loop together: a common start, a common end, and a word
// that one of them has failed.

#ifndef COMMON_CREW_H_
#define COMMON_CREW_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/driver.h"
#include "common/resources.h"

namespace kvmatrix {

// All members are threads of one Run(), each of which calls Start() or
// StartHelping() once.
class Crew {
 public:
  // What one member does; the session that it has used.
  using Body = std::function<std::unique_ptr<Session>(uint64_t)>;

  // So many members measure, and so many more help them until they are done.
  Crew(Clock& clock, uint64_t measured, uint64_t helpers)
      : clock_(clock), measured_(measured), helpers_(helpers) {}

  // Each thread that is left destroys its session and ends.
  ~Crew();

  // Calls `body` with 0, 1, ... on a thread of its own for each member, the
  // measured ones first; returns when all have ended.  The threads and their
  // sessions are there until the crew is destroyed: what an engine does at the
  // end of a session is no part of a loop.  Throws what the first that failed
  // has thrown; then no thread is left.
  void Run(const Body& body);

  // Returns once every member has come and every helper is at work, with the
  // time of that moment.  Throws std::runtime_error if a member has failed.
  uint64_t Start();

  // Of a helper: returns once every member has come.  Throws as Start() does.
  uint64_t StartHelping();

  // Of a helper, once: it is at work.
  void AtWork();

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
  void RunMember(const Body& body, uint64_t member);
  void Dismiss();

  Clock& clock_;
  const uint64_t measured_;
  const uint64_t helpers_;
  std::mutex mutex_;  // guards those below it
  std::condition_variable start_;
  std::condition_variable end_;        // of a member's body
  std::condition_variable dismissal_;  // waited for without a word till then
  uint64_t arrived_ = 0;
  uint64_t at_work_ = 0;  // helpers
  uint64_t ended_ = 0;
  bool dismissed_ = false;
  bool started_ = false;
  uint64_t start_ns_ = 0;
  Resources before_;
  Resources used_;
  std::exception_ptr failure_;  // the first

  std::atomic<uint64_t> unfinished_{measured_};
  std::atomic<bool> failed_{false};
  std::vector<std::jthread> threads_;
};

}  // namespace kvmatrix

#endif  // COMMON_CREW_H_
