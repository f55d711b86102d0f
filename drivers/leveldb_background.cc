#include "drivers/leveldb_background.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kvmatrix {

class BackgroundWork::CountingEnv final : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()) {}
  // A job counts as running for a moment after LevelDB has seen its end.
  ~CountingEnv() override { Wait(); }

  void Schedule(void (*function)(void*), void* argument) override {
    {
      const std::lock_guard lock(mutex_);
      ++jobs_;
    }
    target()->Schedule(&Run, new Job{this, function, argument});
  }

  bool IsIdle() {
    const std::lock_guard lock(mutex_);
    return jobs_ == 0;
  }

  void Wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return jobs_ == 0; });
  }

 private:
  struct Job {
    CountingEnv* env;
    void (*function)(void*);
    void* argument;
  };

  static void Run(void* scheduled) {
    const std::unique_ptr<Job> job(static_cast<Job*>(scheduled));
    job->function(job->argument);
    // Notifies under the lock: without it, Wait() in the destructor could end
    // before the notification.
    const std::lock_guard lock(job->env->mutex_);
    if (--job->env->jobs_ == 0) job->env->idle_.notify_all();
  }

  std::mutex mutex_;  // guards jobs_
  std::condition_variable idle_;
  uint64_t jobs_ = 0;  // scheduled and not yet returned
};

BackgroundWork::BackgroundWork() : env_(std::make_unique<CountingEnv>()) {}
BackgroundWork::~BackgroundWork() = default;
leveldb::Env* BackgroundWork::env() const { return env_.get(); }
bool BackgroundWork::IsIdle() const { return env_->IsIdle(); }
void BackgroundWork::Wait() const { env_->Wait(); }

}  // namespace kvmatrix
