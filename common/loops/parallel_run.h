// Runs the loop of one benchmark on all its threads.  The only place that knows
// which loop belongs to which kind of benchmark.
//
// All functions are called by the thread that runs the benchmark.

#ifndef COMMON_LOOPS_PARALLEL_RUN_H_
#define COMMON_LOOPS_PARALLEL_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/driver.h"
#include "common/loops/run_context.h"
#include "common/loops/thread_group.h"
#include "common/oracle/oracle.h"
#include "common/recording/histogram.h"
#include "common/recording/loop_result.h"
#include "common/spec/config.h"
#include "common/timing/losses.h"
#include "common/timing/meter.h"
#include "common/timing/resources.h"

namespace kvmatrix {

// The result of the extra thread of a benchmark with `writer`.  Its operations
// are not part of RunResult::loop.
struct WriterResult {
  LoopResult loop;
  double rate_ops_per_sec = 0;  // requested; 0: unlimited
  // Service times; none unless calls were timed (--histogram or --rate).
  std::optional<Histogram> latency;
};

// The joint result of all threads: counts are added up, and `loop_ns` is the
// time of the slowest thread from the common start.
struct RunResult {
  LoopResult loop;
  LoopTrace trace;  // `truncated` if any thread's loop was
  Resources used;   // by the process during the loop
  Losses lost;      // by the process during the loop
  // The operations of each writing thread, in the form that --after accepts.
  // Empty if the benchmark does not write.
  std::vector<uint64_t> operations_by_thread;
  // Those of each thread before the loop was measured, of which nothing else is
  // part of this result but a failure.  Empty unless WarmsUp().
  std::vector<uint64_t> warmup_operations_by_thread;
  // Of a mix, by OperationName(); empty if trace.latency is none.
  std::map<std::string, Histogram> latency_by_type;
  std::optional<WriterResult> writer;  // none: no such thread
  std::string failure;                 // the first wrong answer; empty: none
};

// Returns the number of threads whose operations are counted: --threads, or 1
// for a benchmark that cannot be divided.
uint64_t ThreadsOf(const Benchmark& benchmark, const Config& config);

// Returns the number of sessions that use the database at once: a writer is one
// more than the threads.
uint64_t SessionsOf(const Benchmark& benchmark, const Config& config);

// True if a single session is used, on the calling thread.
inline bool IsAlone(const Benchmark& benchmark, const Config& config) {
  return SessionsOf(benchmark, config) == 1;
}

// Returns the operations of all threads together if no time limit ends them.
// `oracle` describes the database before the run, because a scan has no more
// operations than there are entries.  A driver that does not store (`stores` is
// false) scans --num entries.
uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle, bool stores);

// Runs the loop: on this thread with `session` if it is alone, else on the
// threads of `group`, which open their own sessions and keep them until the
// group is destroyed.  Calls `after_loops` when the last loop has ended, before
// anything is computed from the results, which can take seconds.  Afterwards
// the oracle describes what the database must contain.  A wrong answer does not
// throw: it is RunResult::failure.  Throws the exception of the first thread
// that failed; the contents of the database are then unknown, and the oracle is
// of no use. REQUIRES: exactly one of `session` and `group` is not null; the
// group has ThreadsOf() threads, and a helper if the benchmark has a writer
RunResult RunLoops(const RunContext& context, Database& database,
                   Session* session, ThreadGroup* group,
                   const std::function<void()>& after_loops);

// Records in the oracle what the threads of an earlier process have done,
// without an engine.  `stream_seed` is the one that the benchmark had then.
// Throws std::runtime_error if it is a mix that does not fit the database.
// REQUIRES: the oracle describes the database before the benchmark; in a
// replayed stream, `replay` has begun the benchmark
void Replay(const AppliedBenchmark& applied, const Config& config,
            uint64_t stream_seed, Oracle& oracle, ReplayedStream* replay);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_PARALLEL_RUN_H_
