// A second thread that reads what the writer writes, to find what others can
// see before it is durable: a dirty read, if a cut of the power then undoes it.

#ifndef COMMON_CRASH_READER_H_
#define COMMON_CRASH_READER_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "common/driver.h"

namespace kvmatrix {

class Reader {
 public:
  // Called on the thread of the reader with each commit that it has seen.
  using Seen = std::function<void(uint64_t commit)>;

  // Starts the thread, with a session of its own.
  Reader(Database& database, Seen seen);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();  // ends the thread

  // Reads `key`, again and again, until it has the `value` of a commit or
  // another one is expected.
  void Expect(uint64_t commit, std::string_view key, std::string_view value);

  // Ends the thread, after it has read what is expected once more, and throws
  // what the engine has thrown there.
  void Stop();

 private:
  struct Expected {
    uint64_t commit = 0;  // 0: nothing
    std::string key, value;
  };

  void Run();
  Expected expected();

  Database& database_;
  const Seen seen_;
  std::mutex mutex_;
  Expected expected_;  // guarded by mutex_
  std::atomic<bool> ends_ = false;
  std::exception_ptr error_;  // of the thread; read after its end
  std::thread thread_;        // the last, as it uses the others
};

}  // namespace kvmatrix

#endif  // COMMON_CRASH_READER_H_
