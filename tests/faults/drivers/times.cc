// Lies about when, where, how steadily and in how much memory the work is done;
// in the end, what is stored and answered is right.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/faults/drivers/lies.h"
#include "tests/timing/burn.h"

namespace kvmatrix {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Works for this long.
void Spin(std::chrono::nanoseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) continue;
}

// Threads that work from start() to stop().
class Helpers {
 public:
  ~Helpers() { Stop(); }

  void Start() {
    Stop();
    working_ = true;
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this] {
        while (working_.load(std::memory_order_relaxed)) continue;
      });
    }
  }

  void Stop() {
    working_ = false;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  static constexpr int kThreads = 16;  // a busy machine too runs some at once

  std::atomic<bool> working_ = false;
  std::vector<std::thread> threads_;
};

// Updates kept in the memory of this process.
struct Buffered {
  std::vector<std::pair<std::string, std::optional<std::string>>> updates;

  void Add(std::span<const Update> batch) {
    for (const Update& update : batch) {
      std::optional<std::string> value;
      if (update.value) value = *update.value;
      updates.emplace_back(update.key, std::move(value));
    }
  }

  void WriteTo(Session& session) {
    for (const auto& [key, value] : updates) {
      const Update update = {key, value};
      session.Write({&update, 1});
    }
    updates.clear();
  }
};

Behaviour BuffersUntilClose() {
  auto buffered = std::make_shared<Buffered>();
  Behaviour lie;
  lie.write = [buffered](Session&, std::span<const Update> batch) {
    buffered->Add(batch);
  };
  lie.last_words = [buffered](Database& database) {
    buffered->WriteTo(*database.NewSession());
  };
  return lie;
}

// At least twice as long as the database was open: a busy machine may have
// taken its time for the timed work.
Behaviour WorksInClose() {
  auto opened = std::make_shared<Clock::time_point>();
  Behaviour lie;
  lie.open = [opened] { *opened = Clock::now(); };
  lie.close = [opened] {
    Spin(std::max<Clock::duration>(milliseconds(400),
                                   2 * (Clock::now() - *opened)));
  };
  return lie;
}

Behaviour WorksInOpen() {
  Behaviour lie;
  lie.open = [] { Spin(milliseconds(400)); };
  return lie;
}

Behaviour WorksInOtherThreads() {
  auto threads = std::make_shared<std::vector<std::thread>>();
  Behaviour lie;
  lie.write = [threads](Session& session, std::span<const Update> batch) {
    while (threads->size() < 2) threads->emplace_back(Burn, milliseconds(30));
    session.Write(batch);
  };
  lie.flush = [threads] {
    for (std::thread& thread : *threads) thread.join();
    threads->clear();
  };
  return lie;
}

Behaviour GoesOnAfterSettle() {
  auto helpers = std::make_shared<Helpers>();
  Behaviour lie;
  lie.settle = [helpers] { helpers->Start(); };
  lie.close = [helpers] { helpers->Stop(); };
  return lie;
}

// Claims to have settled, and calls `pay` while it is closed, with a quarter of
// the time for which it was open: too little for the check of work outside of
// the clock.  Its writes are slow, so that they outweigh what the harness does.
template <typename Pay>
Behaviour Owes(Pay pay) {
  auto opened = std::make_shared<Clock::time_point>();
  Behaviour lie;
  lie.open = [opened] { *opened = Clock::now(); };
  lie.write = [](Session& session, std::span<const Update> batch) {
    std::this_thread::sleep_for(milliseconds(1));
    session.Write(batch);
  };
  lie.close = [opened, pay] { pay((Clock::now() - *opened) / 4); };
  return lie;
}

Behaviour PaysInClosing() { return Owes(Spin); }

// The debt is in a file, because another process opens the database again.
Behaviour PaysInReopening() {
  const std::string path = FlagText("db") + "/owed";
  Behaviour lie = Owes(
      [path](Clock::duration owed) { std::ofstream(path) << owed.count(); });
  lie.open = [path, opens = lie.open] {
    Clock::rep owed = 0;
    if (std::ifstream(path) >> owed) Spin(Clock::duration(owed));
    std::filesystem::remove(path);
    opens();
  };
  return lie;
}

// Drops the log of the reference from the page cache, and reads from it.  Pages
// that are not on the device yet cannot be dropped.
void FetchLog() {
  const std::string path = FlagText("db") + "/db_bench_lying/log";
  char page[4096];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  const ssize_t bytes = pread(file, page, sizeof(page), 0);
  close(file);
  if (bytes <= 0) throw std::runtime_error("cannot read " + path);
}

Behaviour ReadsFromDevice() {
  Behaviour lie;
  lie.get = [now = Now()](Session& session, std::string_view key) mutable {
    if (now()) FetchLog();
    return session.Get(key);
  };
  return lie;
}

Behaviour BeginsLater() {
  auto helpers = std::make_shared<Helpers>();
  auto timer = std::make_shared<std::thread>();
  Behaviour lie;
  lie.settle = [helpers, timer] {
    *timer = std::thread([helpers] {
      std::this_thread::sleep_for(milliseconds(15));
      helpers->Start();
    });
  };
  lie.close = [helpers, timer] {
    if (timer->joinable()) timer->join();
    helpers->Stop();
  };
  return lie;
}

Behaviour Hoards() {
  auto hoard = std::make_shared<std::string>();
  Behaviour lie;
  lie.open = [hoard] { hoard->assign(4 * FlagNumber("cache_size"), 'x'); };
  return lie;
}

Behaviour SharesHoard() {
  Behaviour lie;
  lie.open = [] {
    const size_t bytes = 4 * FlagNumber("cache_size");
    // For as long as the process lives.
    if (mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED) {
      throw std::runtime_error("cannot map shared memory");
    }
  };
  return lie;
}

// Sleeps for this long whenever `when()` is true.
template <typename When>
Behaviour Sleeps(milliseconds duration, When when) {
  auto pause = [duration, when]() mutable {
    if (when()) std::this_thread::sleep_for(duration);
  };
  Behaviour lie;
  lie.write = [pause](Session& session, std::span<const Update> batch) mutable {
    pause();
    session.Write(batch);
  };
  lie.get = [pause](Session& session, std::string_view key) mutable {
    pause();
    return session.Get(key);
  };
  return lie;
}

Behaviour StallsOnce() { return Sleeps(milliseconds(150), Once()); }

Behaviour StallsOften() { return Sleeps(milliseconds(20), Now()); }

Behaviour Relaxes() {
  Behaviour behaviour;
  behaviour.relaxed = true;
  return behaviour;
}

Behaviour RelaxesSome() {
  Behaviour lie;
  lie.write = [now = Now()](Session& session,
                            std::span<const Update> batch) mutable {
    session.SetDurable(now());
    session.Write(batch);
  };
  return lie;
}

constexpr Lie kLies[] = {
    {"buffer", "keeps all writes in its own memory until it is closed",
     BuffersUntilClose},
    {"close", "spends 400 ms or more closing", WorksInClose},
    {"open", "spends 400 ms opening", WorksInOpen},
    {"threads", "works 30 ms in each of two other threads",
     WorksInOtherThreads},
    {"unsettled",
     "keeps working in other threads after it reports that it has settled",
     GoesOnAfterSettle},
    {"timer",
     "begins to work in other threads 15 ms after it reports that it has "
     "settled, and stops when it is closed",
     BeginsLater},
    {"owes", "claims to have settled, and does a fifth of its work in closing",
     PaysInClosing},
    {"owes-reopening",
     "claims to have settled, and does a fifth of its work when it is opened "
     "again",
     PaysInReopening},
    {"device",
     "drops its file from the page cache and reads it again in every N-th get",
     ReadsFromDevice},
    {"hoard", "holds four times its cache size in memory", Hoards},
    {"hoard-shared", "holds four times its cache size in memory that is shared",
     SharesHoard},
    {"relaxed",
     "promises that no write is lost, and does not wait for the disk", Relaxes},
    {"relaxed-some",
     "promises that no write is lost, and waits for the disk in one write in N",
     RelaxesSome},
    {"stall-once", "sleeps 150 ms in the N-th operation", StallsOnce},
    {"stall-often", "sleeps 20 ms in every N-th operation", StallsOften},
};

}  // namespace

std::span<const Lie> LiesOfTime() { return kLies; }

}  // namespace kvmatrix
