// Threads that run one loop together, with a common start and a common end, and
// notification of failure.

#ifndef COMMON_LOOPS_THREAD_GROUP_H_
#define COMMON_LOOPS_THREAD_GROUP_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/driver.h"
#include "common/timing/clock.h"
#include "common/timing/resources.h"
#include "common/timing/start_gate.h"

namespace kvmatrix {

// All members are threads of one Run(), and the group is the gate of those that
// measure: it starts once every index has come and every helper is at work.
class ThreadGroup final : public StartGate {
 public:
  // What one index does; the session that it has used.
  using Body = std::function<std::unique_ptr<Session>(uint64_t)>;

  // So many members measure, and so many more help them until they are done.
  ThreadGroup(Clock& clock, uint64_t measured, uint64_t helpers)
      : clock_(clock), measured_(measured), helpers_(helpers) {}

  // Each thread that is left destroys its session and ends.
  ~ThreadGroup();

  // Calls `body` with 0, 1, ... on a thread of its own for each index, the
  // measured ones first; returns when all have ended.  The threads and their
  // sessions are there until the group is destroyed: what an engine does at the
  // end of a session is no part of a loop.  Throws what the first that
  // failed has thrown; then no thread is left.
  void Run(const Body& body);

  uint64_t Start() override;
  void Finish() override;
  bool failed() const override {
    return failed_.load(std::memory_order_relaxed);
  }
  const Resources& used() const override { return used_; }

  // The gate of a helper, which starts once every index has come and is not
  // waited for at the end.
  StartGate& helper_gate() { return helper_gate_; }

  // Of a helper, once: it is at work.
  void HelperReady();

  // True once every measured index has ended its loop, or one has failed.
  bool finished() const {
    return unfinished_.load(std::memory_order_acquire) == 0 || failed();
  }

 private:
  class HelperGate final : public StartGate {
   public:
    explicit HelperGate(ThreadGroup& group) : group_(group) {}
    uint64_t Start() override { return group_.StartHelper(); }
    void Finish() override {}
    bool failed() const override { return group_.failed(); }
    const Resources& used() const override { return group_.used(); }

   private:
    ThreadGroup& group_;
  };

  uint64_t StartHelper();
  void Fail();
  void RunThread(const Body& body, uint64_t index);
  void ReleaseThreads();

  Clock& clock_;
  const uint64_t measured_;
  const uint64_t helpers_;
  HelperGate helper_gate_{*this};
  std::mutex mutex_;  // guards those below it
  std::condition_variable start_;
  std::condition_variable end_;      // of a index's body
  std::condition_variable release_;  // waited on silently until then
  uint64_t arrived_ = 0;
  uint64_t ready_helpers_ = 0;  // helpers
  uint64_t ended_ = 0;
  bool released_ = false;
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

#endif  // COMMON_LOOPS_THREAD_GROUP_H_
