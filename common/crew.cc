#include "common/crew.h"

#include <stdexcept>
#include <thread>
#include <vector>

namespace kvmatrix {

void Crew::Run(const std::function<void(uint64_t)>& body) {
  {
    std::vector<std::jthread> threads;
    threads.reserve(members_);
    for (uint64_t i = 0; i < members_ && !failed(); ++i) {
      try {
        threads.emplace_back([this, &body, i] {
          try {
            body(i);
          } catch (...) {
            Fail();
          }
        });
      } catch (...) {  // no more threads
        Fail();
      }
    }
  }
  if (failure_) std::rethrow_exception(failure_);
}

uint64_t Crew::Start() {
  std::unique_lock lock(mutex_);
  if (++arrived_ == members_) {
    before_ = Resources::Now();
    start_ns_ = clock_.NowNs();
    start_.notify_all();
  }
  start_.wait(lock, [this] { return arrived_ == members_ || failed(); });
  if (failed()) throw std::runtime_error("another thread has failed");
  return start_ns_;
}

void Crew::Finish() {
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  const std::lock_guard lock(mutex_);
  used_ = Resources::Now().Since(before_);
}

void Crew::Fail() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  failed_.store(true, std::memory_order_relaxed);
  start_.notify_all();
}

}  // namespace kvmatrix
