// Runs benchmarks on one engine, one after another.

#ifndef COMMON_RUN_RUNNER_H_
#define COMMON_RUN_RUNNER_H_

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

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

// Every benchmark of the own stream opens the database anew and closes it, so
// that each starts with what the engine finds on disk.  In a stream that is
// replayed the database stays open for a next benchmark that takes it as it is
// and asks for the same Options, as in the program replayed: the caches are
// warm then and compactions may still run.  Opening and closing are outside the
// timed loop and recorded of the benchmark that did them; where nothing was
// opened or closed they took 0 ns.
class Runner {
 public:
  // The arguments outlive the runner.  Unless config.use_existing_db is set,
  // a database that an earlier run left in config.db is removed.
  Runner(const Driver& driver, const Config& config, Clock& clock);

  // Never throws for what an engine does: that becomes the status.  `next` is
  // what will be run after it, null: nothing known, and the database is closed.
  Measurement Run(const Benchmark& benchmark, const Benchmark* next = nullptr);

  // Runs the last benchmark of this process and ends the process as kill -9
  // does.  Once the benchmark has flushed, hands its measurement to `report`,
  // with the database open; then nothing is settled or closed and no destructor
  // runs.  Returns only if the benchmark, or `report`, failed before that.
  using Reporter = std::function<void(const Measurement&)>;
  Measurement RunAndCrash(const Benchmark& benchmark, const Reporter& report);

 private:
  // A database that is open, and its sessions: that of a thread that is alone,
  // or those of the threads of a group.
  struct Handle {
    Options options;
    std::unique_ptr<Database> database;  // null: it is closed
    std::unique_ptr<Session> session;    // destroyed before
    std::unique_ptr<ThreadGroup> group;  // of one benchmark; destroyed before

    void Close() {
      group.reset();
      session.reset();
      database.reset();
    }
  };

  Measurement Try(const Benchmark& benchmark, const Benchmark* next,
                  const Reporter& report);
  void Attempt(const Benchmark& benchmark, const Benchmark* next,
               const Reporter& report, Measurement& measurement);
  Options OptionsOf(const Benchmark& benchmark) const;
  void Open(const Benchmark& benchmark, Measurement& measurement);
  bool StaysOpenFor(const Benchmark* next) const;
  void Settle(Database& database, Measurement& measurement);
  void Flush(Database& database, Measurement& measurement);
  void Conclude(const RunContext& context, Measurement& measurement) const;
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
  // The benchmark that has changed the database and did not come to its end, so
  // that nobody knows what is in it; null: it is known.
  const Benchmark* unfinished_ = nullptr;
};

// Why `driver` cannot run `benchmark` in any configuration; empty if it can.
std::string_view UnsupportedReason(const Driver& driver,
                                   const Benchmark& benchmark);

}  // namespace kvmatrix

#endif  // COMMON_RUN_RUNNER_H_
