// Runs benchmarks on one engine, one after another, from opening the database
// to closing it.

#ifndef COMMON_RUN_RUNNER_H_
#define COMMON_RUN_RUNNER_H_

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "common/driver.h"
#include "common/loops/run_context.h"
#include "common/loops/thread_group.h"
#include "common/oracle/oracle.h"
#include "common/run/measurement.h"
#include "common/spec/config.h"
#include "common/stream/leveldb_stream.h"
#include "common/timing/clock.h"
#include "common/timing/progress.h"

namespace kvmatrix {

// In the own stream every benchmark opens the database and closes it again, so
// that each one starts with what the engine finds on disk.  In a replay
// (--stream) the database stays open for a next benchmark that uses it as it is
// with the same Options, as in the replayed program; caches are then warm and
// compactions may still be running.
//
// Opening, flushing, settling and closing are outside the timed loop and timed
// separately.  If the database was not opened or closed for a benchmark, that
// took 0 ns.
//
//   Runner runner(kDriver, config, clock);
//   for each benchmark of config.benchmarks:
//     const Measurement m = runner.Run(benchmark, next);
//
// What a benchmark starts with is what the earlier ones have left; a benchmark
// that fails while it writes leaves unknown contents, and the later ones then
// fail with that reason, up to the next fill.
//
// Not thread-safe.
class Runner {
 public:
  // The arguments outlive the runner.  Unless config.use_existing_db is set,
  // removes a database that an earlier run left in config.db; otherwise replays
  // config.after into the oracle.  Throws UsageError if there is no database,
  // std::runtime_error if it does not fit a mix in config.after, and
  // std::system_error if directories or the file of --progress cannot be
  // created.  Throws UsageError if --device_stat cannot be read.
  Runner(const Driver& driver, const Config& config, Clock& clock);

  // Runs one benchmark.  Does not throw because of the engine: errors become
  // the status of the result.  `next` is the benchmark that will be run after
  // it; null: unknown, and the database is closed.  If loop and flush take less
  // than `least_ns`, the same benchmark is run again: nobody watches yet
  // whether the engine works on after it has settled. REQUIRES: a `next` that
  // is not null is the benchmark of the next call
  Measurement Run(const Benchmark& benchmark, const Benchmark* next = nullptr,
                  uint64_t least_ns = 0);

  // Runs the last benchmark of this process and kills the process with SIGKILL
  // once the benchmark has flushed: nothing is settled or closed, and no
  // destructor runs.  Another process, forked before the flush, passes the
  // measurement to `report`, which must not throw, and ends.  Returns only if
  // the benchmark failed before that, or if its loop took less than
  // `least_ns`: then it has run as by Run().
  using Reporter = std::function<void(const Measurement&)>;
  Measurement RunAndCrash(const Benchmark& benchmark, const Reporter& report,
                          uint64_t least_ns = 0);

  // Makes the next Run() of `benchmark` repeat the operations of its last one.
  // REQUIRES: there was one, without a warm-up, of this program's own stream
  void Rewind(const Benchmark& benchmark) { --occurrences_.at(benchmark.name); }

  const Driver& driver() const { return driver_; }

 private:
  // An open database and its sessions: either that of the single thread, or
  // those of the threads of a group.  Sessions are destroyed before the
  // database.
  struct Handle {
    Options options;
    std::unique_ptr<Database> database;  // null: closed
    std::unique_ptr<Session> session;    // of the single thread, or null
    std::unique_ptr<ThreadGroup> group;  // of several threads, or null

    // Throws an error of closing; the handle is closed nevertheless.
    void Close() {
      group.reset();
      session.reset();
      if (const auto closing = std::move(database)) closing->Close();
    }

    // Closes without reporting errors.
    void Discard() {
      group.reset();
      session.reset();
      database.reset();
    }

    // Forgets the database without destroying it.
    void Abandon() {
      static_cast<void>(group.release());
      static_cast<void>(session.release());
      static_cast<void>(database.release());
    }
  };

  // How a benchmark ends.
  struct End {
    Reporter report;  // empty: the process is not killed
    uint64_t least_ns = 0;
  };

  // Attempt(), with exceptions turned into a status.
  Measurement Try(const Benchmark& benchmark, const Benchmark* next,
                  const End& end);
  // Closes the database and gives the measurement this error.
  void Fail(const char* reason, Measurement& measurement);
  // Runs the benchmark and fills `measurement` as it goes; throws if it fails.
  void Attempt(const Benchmark& benchmark, const Benchmark* next,
               const End& end, Measurement& measurement);
  Options OptionsOf(const Benchmark& benchmark) const;
  void Open(const Benchmark& benchmark, Measurement& measurement);
  // True if the open database can serve `next` as it is.
  bool StaysOpenFor(const Benchmark* next) const;
  // Runs the loops, then flushes and settles, or is killed by FlushLast() and
  // sets `ending`.
  void RunPhases(const RunContext& context, const End& end,
                 Measurement& measurement);
  // Returns what the flush used, unless that is deferred.
  Usage Flush(Database& database, Measurement& measurement);
  // Flushes and kills this process; returns in the one that goes on without it.
  void FlushLast(Database& database, Measurement& measurement);
  // `is_watched`: afterwards, measures whether the engine works on.
  void Settle(Database& database, uint64_t loop_end_ns, bool is_watched,
              Measurement& measurement);
  void Conclude(const RunContext& context, Measurement& measurement) const;
  // Throws if the benchmark does not fit the engine or the database.
  void RequireRunnable(const Benchmark& benchmark) const;
  uint64_t NextStreamSeed(const Benchmark& benchmark);
  void MakeFresh();
  void ResetOracle(const Benchmark& benchmark);

  const Driver& driver_;
  const Config& config_;
  Clock& clock_;
  Progress progress_;
  const std::filesystem::path path_;  // of the database
  Oracle oracle_;
  const std::unique_ptr<ReplayedStream> replay_;      // null: the own stream
  std::map<std::string_view, uint64_t> occurrences_;  // of benchmark names
  Handle handle_;
  // The benchmark that has changed the database without completing, so that its
  // contents are unknown; null: they are known.
  const Benchmark* unfinished_ = nullptr;
};

// Returns why `driver` cannot run `benchmark` under this configuration,
// whatever the database; empty if it can.
std::string_view UnsupportedReason(const Driver& driver,
                                   const Benchmark& benchmark,
                                   const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_RUN_RUNNER_H_
