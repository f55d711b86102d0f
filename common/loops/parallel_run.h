// One benchmark's loop, run by as many threads as --threads says.

#ifndef COMMON_LOOPS_PARALLEL_RUN_H_
#define COMMON_LOOPS_PARALLEL_RUN_H_

#include <cstdint>
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
#include "common/timing/meter.h"
#include "common/timing/resources.h"

namespace kvmatrix {

// What the writer of a benchmark with `writer` has done.
struct WriterResult {
  LoopResult loop;
  double rate_ops_per_sec = 0;  // asked for; 0: as fast as it goes
  std::optional<Histogram> latency;
};

// What all threads have done together.
struct RunResult {
  LoopResult loop;
  LoopTrace trace;
  Resources used;  // by the loop
  // Of a benchmark that writes: by each thread that does, as --after takes it.
  std::vector<uint64_t> operations_by_thread;
  std::map<std::string, Histogram> latency_by_type;  // of a mix
  std::optional<WriterResult> writer;
  std::string failure;  // the first wrong answer; empty: there was none
};

// Threads whose operations are counted.
uint64_t ThreadsOf(const Benchmark& benchmark, const Config& config);

// Sessions that use the database at once.
uint64_t SessionsOf(const Benchmark& benchmark, const Config& config);

// True if the threads are one, which is the caller's own.
inline bool IsAlone(const Benchmark& benchmark, const Config& config) {
  return SessionsOf(benchmark, config) == 1;
}

// Operations of all threads together, as far as no time limit ends them.  What
// `stores` nothing has as many entries to scan as it was asked to write.
uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle, bool stores);

// Runs the loop: on this thread with `session` if it is alone, else on the
// threads of `group`, which make their sessions and hold them until it is
// destroyed.  The oracle then records what the database must hold.  Throws what
// the first thread that failed has thrown.
// REQUIRES: one of both is not null; `group` is of ThreadsOf(), and of a helper
// if the benchmark has a writer
RunResult RunLoops(const RunContext& context, Database& database,
                   Session* session, ThreadGroup* group);

// Records what the threads of a applied benchmark have done.
void Replay(const AppliedBenchmark& applied, const Config& config,
            uint64_t stream_seed, Oracle& oracle, ReplayedStream* replay);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_PARALLEL_RUN_H_
