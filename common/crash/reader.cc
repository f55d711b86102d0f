#include "common/crash/reader.h"

#include <chrono>
#include <memory>
#include <utility>

namespace kvmatrix {
namespace {

// Between two gets, so that a writer that waits for readers is let in.
constexpr std::chrono::microseconds kPause(20);

}  // namespace

Reader::Reader(Database& database, Seen seen)
    : database_(database), seen_(std::move(seen)), thread_([this] { Run(); }) {}

Reader::~Reader() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void Reader::Expect(uint64_t commit, std::string_view key,
                    std::string_view value) {
  const std::lock_guard lock(mutex_);
  expected_ = {commit, std::string(key), std::string(value)};
}

void Reader::Stop() {
  ends_ = true;
  thread_.join();
  if (error_) std::rethrow_exception(error_);
}

Reader::Expected Reader::expected() {
  const std::lock_guard lock(mutex_);
  return expected_;
}

void Reader::Run() {
  try {
    const std::unique_ptr<Session> session = database_.NewSession();
    uint64_t seen = 0;
    for (bool is_last = false; !is_last;) {
      is_last = ends_;
      const Expected wanted = expected();
      if (wanted.commit != seen && session->Get(wanted.key) == wanted.value)
        seen_(seen = wanted.commit);
      std::this_thread::sleep_for(kPause);
    }
  } catch (...) {
    error_ = std::current_exception();
  }
}

}  // namespace kvmatrix
