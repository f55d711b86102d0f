#include "common/loops/thread_group.h"

#include <stdexcept>

namespace kvmatrix {

ThreadGroup::~ThreadGroup() { ReleaseThreads(); }

void ThreadGroup::Run(const Body& body) {
  const uint64_t threads = measured_ + helpers_;
  threads_.reserve(threads);
  for (uint64_t i = 0; i < threads && !failed(); ++i) {
    try {
      threads_.emplace_back([this, &body, i] { RunThread(body, i); });
    } catch (...) {  // the system has no thread left
      Fail();
    }
  }
  {
    std::unique_lock lock(mutex_);
    end_.wait(lock, [this] { return ended_ == threads_.size(); });
  }
  if (!failure_) return;
  ReleaseThreads();
  std::rethrow_exception(failure_);
}

void ThreadGroup::RunThread(const Body& body, uint64_t index) {
  // Destroyed below and not by the group: a session ends on the thread that
  // created it.
  std::unique_ptr<Session> session;
  try {
    session = body(index);
  } catch (...) {
    Fail();
  }
  std::unique_lock lock(mutex_);
  ++ended_;
  end_.notify_one();
  release_.wait(lock, [this] { return released_; });
  lock.unlock();
  session.reset();
}

void ThreadGroup::ReleaseThreads() {
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
    release_.notify_all();
  }
  threads_.clear();  // joins them
}

uint64_t ThreadGroup::StartHelper() {
  std::unique_lock lock(mutex_);
  ++arrived_;
  start_.notify_all();
  start_.wait(lock,
              [this] { return arrived_ == measured_ + helpers_ || failed(); });
  if (failed()) throw std::runtime_error("another thread has failed");
  return clock_.NowNs();
}

void ThreadGroup::HelperReady() {
  const std::lock_guard lock(mutex_);
  ++ready_helpers_;
  start_.notify_all();
}

uint64_t ThreadGroup::Start() {
  std::unique_lock lock(mutex_);
  ++arrived_;
  start_.notify_all();
  start_.wait(lock, [this] {
    return (arrived_ == measured_ + helpers_ && ready_helpers_ == helpers_) ||
           failed();
  });
  if (failed()) throw std::runtime_error("another thread has failed");
  // The first thread that gets here takes the time, while the others wait for
  // the mutex: none can be ahead of the common start.
  if (!started_) {
    started_ = true;
    before_ = Usage::Start();
    start_ns_ = clock_.NowNs();
  }
  return start_ns_;
}

// The counter is atomic so that finished(), which helpers poll in their loop,
// takes no lock.
void ThreadGroup::Finish() {
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  const std::lock_guard lock(mutex_);
  usage_ = Usage::Since(before_);
}

void ThreadGroup::Fail() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  failed_.store(true, std::memory_order_relaxed);
  start_.notify_all();
}

}  // namespace kvmatrix
