// To which phase of a benchmark the resources of an engine are attributed, and
// how a benchmark with --crash ends.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/runner/runner_fixture.h"
#include "tests/timing/burn.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kBurnNs = 60'000'000;     // an engine's work, in CPU time
constexpr uint64_t kLittleNs = kBurnNs / 2;  // more than all else takes

void BurnCpu() { Burn(std::chrono::nanoseconds(kBurnNs)); }

void BurnCpuInAThread() { std::thread(BurnCpu).join(); }

void BurnCpuInAChild() {
  const pid_t child = fork();
  if (child == 0) {
    BurnCpu();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

class PhasesTest : public RunnerFixture {
 protected:
  using Names = std::vector<std::string_view>;

  std::filesystem::path InDatabase(const char* file) const {
    return config_.db / "db_bench_memory" / file;
  }

  Behaviour::Event Writes(const char* file, size_t bytes) const {
    return [path = InDatabase(file), bytes] {
      std::ofstream(path) << std::string(bytes, 'x');
    };
  }

  Measurement Fill(const Behaviour& behaviour) {
    return Run(Wrapped(behaviour), {"fillseq"}).front();
  }

  // Returns the measurement of the last of these benchmarks: one that satisfies
  // the condition, or the last of many attempts.  A busy machine may charge a
  // process for work it did not do, or leave a thread no time.
  template <typename Holds>
  Measurement RunUntil(const Behaviour& behaviour, const Names& names,
                       Holds holds) {
    Measurement m;
    for (int runs = 0; runs == 0 || (runs < 50 && !holds(m)); ++runs) {
      m = Run(Wrapped(behaviour), names).back();
    }
    return m;
  }

  void ExpectTimed(const Behaviour& behaviour) {
    const Measurement m =
        RunUntil(behaviour, {"fillseq"}, [](const Measurement& each) {
          return each.deferred.cpu_ns() < kLittleNs;
        });
    EXPECT_GE(m.run.used.cpu_ns(), kBurnNs);
    EXPECT_LT(m.deferred.cpu_ns(), kLittleNs);
  }

  Measurement ExpectDeferred(const Behaviour& behaviour, const Names& names) {
    const Measurement m =
        RunUntil(behaviour, names, [](const Measurement& each) {
          return each.run.used.cpu_ns() < kLittleNs;
        });
    EXPECT_LT(m.run.used.cpu_ns(), kLittleNs);
    EXPECT_GE(m.deferred.cpu_ns(), kBurnNs);
    return m;
  }
};

TEST_F(PhasesTest, TheLoopAndTheFlushAreTimed) {
  for (const auto& burn : {BurnCpu, BurnCpuInAThread, BurnCpuInAChild}) {
    Behaviour behaviour;
    behaviour.flush = burn;
    ExpectTimed(behaviour);
    behaviour.flush = {};
    uint64_t calls = 0;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      if (++calls % config_.num == 100) burn();
      session.Write(batch);
    };
    ExpectTimed(behaviour);
  }
}

TEST_F(PhasesTest, SettlingAndClosingAreDeferred) {
  for (const auto& burn : {BurnCpu, BurnCpuInAThread, BurnCpuInAChild}) {
    Behaviour behaviour;
    behaviour.settle = burn;
    ExpectDeferred(behaviour, {"fillseq"});
    behaviour.settle = {};
    behaviour.close = burn;
    ExpectDeferred(behaviour, {"fillseq"});
  }
}

TEST_F(PhasesTest, OpeningIsNeitherTimedNorDeferred) {
  Behaviour behaviour;
  behaviour.open = BurnCpu;
  const Measurement m =
      RunUntil(behaviour, {"fillseq"}, [](const Measurement& each) {
        return each.run.used.cpu_ns() + each.deferred.cpu_ns() < kLittleNs;
      });
  EXPECT_LT(m.run.used.cpu_ns(), kLittleNs);
  EXPECT_LT(m.deferred.cpu_ns(), kLittleNs);
}

TEST_F(PhasesTest, BytesAreCountedWhereTheyAreWritten) {
  Measurement m = Fill({});
  constexpr uint64_t kHeads = 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t);
  const uint64_t logged = 500 * (kHeads + 16 + 100);
  const uint64_t of_sanitizers = 1'000;  // they talk to themselves by pipes
  EXPECT_GE(m.run.used.written_bytes, logged);
  EXPECT_LT(m.run.used.written_bytes, logged + of_sanitizers);
  EXPECT_LT(m.run.used.read_bytes, of_sanitizers);
  EXPECT_LT(m.deferred.written_bytes, of_sanitizers);
  EXPECT_LT(m.deferred.read_bytes, of_sanitizers);
  Behaviour behaviour;
  behaviour.flush = Writes("more", 50'000);
  behaviour.settle = Writes("more", 60'000);
  behaviour.close = Writes("more", 7'000);
  m = Fill(behaviour);
  EXPECT_GE(m.run.used.written_bytes, logged + 50'000);
  EXPECT_LT(m.run.used.written_bytes, logged + 50'000 + of_sanitizers);
  EXPECT_GE(m.deferred.written_bytes, 67'000u);
  EXPECT_LT(m.deferred.written_bytes, 67'000 + of_sanitizers);
}

TEST_F(PhasesTest, AReadUsesWhatItsLoopUses) {
  Behaviour behaviour;
  behaviour.close = BurnCpu;
  const Measurement m =
      ExpectDeferred(behaviour, {"filluniquerandom", "readrandom"});
  EXPECT_LT(m.run.used.read_bytes, 1'000u);
  EXPECT_LT(m.run.used.written_bytes, 1'000u);
  EXPECT_EQ(m.idle_cpu_ns, 0u);
}

TEST_F(PhasesTest, AThreadThatStillRunsAfterSettlingIsReported) {
  std::atomic<bool> stop;
  std::thread thread;
  Behaviour behaviour;
  behaviour.settle = [&] {
    stop = false;
    thread = std::thread([&] {
      while (!stop) continue;
    });
  };
  behaviour.close = [&] {
    stop = true;
    if (thread.joinable()) thread.join();
  };
  clock_.sleeps = true;
  const auto idles = [](const Measurement& each) {
    return each.idle_cpu_ns < 2'000'000;
  };
  EXPECT_LT(RunUntil({}, {"fillseq"}, idles).idle_cpu_ns, 2'000'000u);
  const Measurement m = RunUntil(behaviour, {"fillseq"}, std::not_fn(idles));
  EXPECT_GE(m.idle_cpu_ns, 2'000'000u);
  EXPECT_GE(m.deferred.cpu_ns(), m.idle_cpu_ns);
  config_.settle = false;
  EXPECT_EQ(Fill(behaviour).idle_cpu_ns, 0u);
}

TEST_F(PhasesTest, AThreadThatBeginsLaterIsReportedByALongWatch) {
  std::jthread thread;
  Behaviour behaviour;
  behaviour.settle = [&] {
    thread = std::jthread([](const std::stop_token& stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      while (!stop.stop_requested()) continue;
    });
  };
  behaviour.close = [&] { thread = {}; };
  clock_.sleeps = true;
  config_.watch_idle = true;
  const Measurement m = Fill(behaviour);
  EXPECT_EQ(m.idle_ns, kLongIdleNs);
  EXPECT_GE(m.idle_cpu_ns, 2'000'000u);
}

TEST_F(PhasesTest, ThePeakOnDiskIsTheLargestOfAllParts) {
  const auto shrink = [this] { std::filesystem::remove(InDatabase("large")); };
  const uint64_t large = 1 << 20;
  Behaviour behaviour;
  behaviour.flush = Writes("large", large);
  behaviour.settle = shrink;
  Measurement m = Fill(behaviour);
  EXPECT_GE(m.peak_disk_bytes, large);
  EXPECT_LT(m.disk_bytes, large);
  behaviour = {};
  behaviour.settle = Writes("large", large);
  behaviour.close = shrink;
  m = Fill(behaviour);
  EXPECT_GE(m.peak_disk_bytes, large);
  EXPECT_LT(m.disk_bytes, large);
  behaviour = {};
  behaviour.close = Writes("large", large);
  m = Fill(behaviour);
  EXPECT_GE(m.disk_bytes, large);
  EXPECT_EQ(m.peak_disk_bytes, m.disk_bytes);
}

TEST_F(PhasesTest, MemoryIsReadAtTheEndOfTheLoop) {
  constexpr size_t kBytes = 64 << 20;
  const auto map = [&](int file) {
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
             file < 0 ? MAP_POPULATE | MAP_PRIVATE | MAP_ANONYMOUS
                      : MAP_POPULATE | MAP_SHARED,
             file, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return memory;
  };
  const Measurement small = Fill({});
  for (const bool anonymous : {true, false}) {
    void* memory = nullptr;
    Behaviour behaviour;
    behaviour.write = [&](Session& session, std::span<const Update> batch) {
      session.Write(batch);
      if (memory != nullptr) return;
      const auto path = InDatabase("mapped");
      const int file = open(path.c_str(), O_RDWR | O_CREAT, 0644);
      EXPECT_EQ(ftruncate(file, kBytes), 0);
      memory = map(anonymous ? -1 : file);
      close(file);
    };
    behaviour.flush = [&] { munmap(memory, kBytes); };
    std::ofstream("/proc/self/clear_refs") << 5;  // forgets the peak
    const Measurement m = Fill(behaviour);
    EXPECT_GE(m.peak_rss_bytes, kBytes);
    EXPECT_EQ(m.anonymous_rss_bytes >= small.anonymous_rss_bytes + kBytes / 2,
              anonymous);
    EXPECT_EQ(m.file_rss_bytes >= small.file_rss_bytes + kBytes / 2,
              !anonymous);
  }
}

TEST_F(PhasesTest, LiveBytesAreThoseThatTheAuditCounts) {
  const auto m =
      Run(Wrapped({}), {"filluniquerandom", "overwrite", "deleterandom",
                        "verify", "fillrandom", "readrandom", "fillseq100K"});
  const uint64_t entry = 16 + 100;
  EXPECT_EQ(m[0].live_bytes, 500 * entry);
  EXPECT_EQ(m[1].live_bytes, 500 * entry);
  EXPECT_LT(m[2].live_bytes, 500 * entry);
  EXPECT_EQ(m[2].live_bytes, m[3].run.loop.found * entry);
  EXPECT_EQ(m[2].live_bytes, m[3].live_bytes);
  EXPECT_LT(m[4].live_bytes, 500 * entry);
  EXPECT_EQ(m[4].live_bytes, m[5].live_bytes);
  EXPECT_EQ(m[6].live_bytes, 16u + 100'000);
}

// Events are printed on stderr, which the test reads to its end: until the
// killed process and the one that reports have both ended.
class CrashTest : public RunnerFixture {
 protected:
  static Behaviour Telling() {
    const auto tell = [](const char* what) {
      return [what] { std::fputs(what, stderr); };
    };
    Behaviour behaviour;
    behaviour.flush = tell("flush ");
    behaviour.settle = tell("settle ");
    behaviour.end = tell("end ");
    behaviour.close = tell("close ");
    return behaviour;
  }

  static void Tell(const Measurement& m) {
    std::fprintf(stderr, "%s %s %llu %llu+%llu ",
                 std::string(m.benchmark->name).c_str(),
                 std::string(EndingName(m.ending)).c_str(),
                 static_cast<unsigned long long>(m.run.loop.operations),
                 static_cast<unsigned long long>(m.settle_ns + m.close_ns),
                 static_cast<unsigned long long>(m.deferred.cpu_ns()));
  }

  // Returns the events of a process that runs the benchmarks and crashes after
  // the last one.
  std::string EventsOf(const std::vector<std::string_view>& earlier,
                       std::string_view last, Behaviour behaviour = Telling(),
                       const Runner::Reporter& report = Tell) {
    std::array<int, 2> ends;
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[1]);
      RunAndCrash(earlier, last, std::move(behaviour), report);
      _exit(0);
    }
    close(ends[1]);
    std::string events;
    char byte;
    while (read(ends[0], &byte, 1) == 1) events.push_back(byte);
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << events;
    return events;
  }

 private:
  void RunAndCrash(const std::vector<std::string_view>& earlier,
                   std::string_view last, Behaviour behaviour,
                   const Runner::Reporter& report) {
    const Driver driver = Wrapped(std::move(behaviour));
    Runner runner(driver, config_, clock_);
    for (const std::string_view each : earlier)
      runner.Run(*FindBenchmark(each));
    std::fputs("| ", stderr);
    runner.RunAndCrash(*FindBenchmark(last), report);
    std::fputs("survived ", stderr);
  }
};

TEST_F(CrashTest, EndsAfterTheFlush) {
  EXPECT_EQ(EventsOf({}, "fillseq"), "| flush fillseq killed 500 0+0 ");
  EXPECT_EQ(EventsOf({"fillseq"}, "compact"),
            "flush settle end close | flush compact killed 1 0+0 ");
}

TEST_F(CrashTest, AReadEndsAfterItsLoop) {
  EXPECT_EQ(EventsOf({"fillseq"}, "readrandom"),
            "flush settle end close | readrandom killed 500 0+0 ");
}

TEST_F(CrashTest, EndsNoSessionOfAThread) {
  config_.threads = 4;
  EXPECT_EQ(EventsOf({}, "fillrandom"), "| flush fillrandom killed 500 0+0 ");
}

// A thread of the engine could otherwise write what the flush has left out.
TEST_F(CrashTest, TheEngineIsDeadWhileTheResultIsReported) {
  auto* const beats = static_cast<std::atomic<uint64_t>*>(
      mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(beats), MAP_FAILED);
  pid_t engine = 0;
  Behaviour behaviour;
  behaviour.open = [&] { engine = getpid(); };
  behaviour.flush = [beats] {
    std::thread([beats] {
      for (;; ++*beats) std::this_thread::yield();
    }).detach();
    while (*beats == 0) std::this_thread::yield();
  };
  const auto report = [&](const Measurement&) {
    while (getppid() == engine) std::this_thread::yield();
    const uint64_t before = *beats;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::fputs(*beats == before ? "dead" : "alive", stderr);
  };
  EXPECT_EQ(EventsOf({}, "fillseq", behaviour, report), "| dead");
  munmap(beats, sizeof(*beats));
}

TEST_F(CrashTest, AFailureBeforeTheFlushPreventsTheKill) {
  Behaviour behaviour = Telling();
  behaviour.flush = [] { throw std::runtime_error("disk full"); };
  const Driver driver = Wrapped(behaviour);
  Runner runner(driver, config_, clock_);
  const Measurement m = runner.RunAndCrash(*FindBenchmark("fillseq"),
                                           [](const Measurement&) { FAIL(); });
  EXPECT_EQ(m.status, Status::kError);
  EXPECT_EQ(m.reason, "disk full");
}

}  // namespace
}  // namespace kvmatrix
