// Threads that run one loop together, with a common start, a common end and
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
#include "common/timing/losses.h"
#include "common/timing/start_gate.h"

namespace kvmatrix {

// The threads of one Run().  `measured` of them are timed, and the group is the
// start gate of their meters; `helpers` more run alongside until those are
// done.
//
//   ThreadGroup group(clock, 2, 1);
//   group.Run([&](uint64_t i) {           // i is 2 on the helper
//     auto session = database.NewSession();
//     ... a loop, whose meter has `group` or helper_gate() as its gate ...
//     return session;
//   });
//   const Usage& usage = group.usage();
//
// The start.  Each measured thread calls Start() and waits until all threads
// have arrived and every helper has reported HelperReady(); the first one to
// see this takes the start time, which all of them return.  A helper starts
// earlier, when all threads have arrived, because it must be at work before the
// measurement begins.
//
// The end.  Finish() counts the measured threads down, and the last one reads
// what was used and lost.  All threads then wait, with their sessions open,
// until the group is destroyed: what an engine does at the end of a session is
// not part of a loop.
//
// A failure.  The first exception of any thread makes failed() true and wakes
// every thread that waits for the start; loops that are running check failed()
// themselves, through their meters.  Run() throws the exception once all
// threads have ended.
//
// Run() and the destructor belong to one thread; all other methods are
// thread-safe.
class ThreadGroup final : public StartGate {
 public:
  // What a thread does with its index; returns the session that it used, which
  // the thread keeps until the group is destroyed.  An exception is a failure.
  using Body = std::function<std::unique_ptr<Session>(uint64_t)>;

  // Starts no thread yet.  `clock` outlives the group.
  // REQUIRES: measured > 0
  ThreadGroup(Clock& clock, uint64_t measured, uint64_t helpers)
      : clock_(clock), measured_(measured), helpers_(helpers) {}

  // Destroys each session on its own thread and joins the threads.  The
  // database must still be open.
  ~ThreadGroup();

  // Calls `body` with 0, 1, ... on one thread each, the measured ones first,
  // and returns when all calls have ended.  Throws the first exception of a
  // body, after the threads have been joined; a thread that cannot be created
  // is a failure too.
  // REQUIRES: Run() has not been called before; each body passes its gate once,
  // or throws
  void Run(const Body& body);

  // The gate of the measured threads; see StartGate.  usage() is valid only
  // after a Run() that did not throw.
  uint64_t Start() override;
  void Finish() override;
  bool failed() const override {
    return failed_.load(std::memory_order_relaxed);
  }
  const Usage& usage() const override { return usage_; }

  // The gate of a helper, as long as the group.  Its Finish() does nothing.
  StartGate& helper_gate() { return helper_gate_; }

  // Called once by each helper when it has done its first operation.  No
  // measured thread starts before that.
  void HelperReady();

  // True once every measured thread has ended its loop, or any thread has
  // failed: a helper then ends its own.  Takes no lock, for use in a loop.
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
    const Usage& usage() const override { return group_.usage(); }

   private:
    ThreadGroup& group_;
  };

  // Waits until all threads have arrived and returns the time.
  uint64_t StartHelper();
  // Keeps the exception that is being handled, if it is the first.
  void Fail();
  void RunThread(const Body& body, uint64_t index);
  // Lets the waiting threads end, and joins them.
  void ReleaseThreads();

  Clock& clock_;
  const uint64_t measured_;
  const uint64_t helpers_;
  HelperGate helper_gate_{*this};
  std::mutex mutex_;  // guards the fields from here to failure_
  std::condition_variable start_;
  std::condition_variable end_;      // a body has ended
  std::condition_variable release_;  // released_ has become true
  // Threads that have reached their gate, helpers that are at work, and bodies
  // that have ended.
  uint64_t arrived_ = 0;
  uint64_t ready_helpers_ = 0;
  uint64_t ended_ = 0;
  bool released_ = false;
  bool started_ = false;
  uint64_t start_ns_ = 0;
  Usage before_;
  Usage usage_;
  std::exception_ptr failure_;  // the first

  // Measured threads that have not called Finish().
  std::atomic<uint64_t> unfinished_{measured_};
  std::atomic<bool> failed_{false};
  std::vector<std::jthread> threads_;
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_THREAD_GROUP_H_
