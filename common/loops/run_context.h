// What a timed loop works on and with.  Loops call their ThreadContext `w`.
//
// Both types are bundles of references without behaviour.  run/runner.cc makes
// a RunContext for each benchmark, and loops/parallel_run.cc extends it to a
// ThreadContext for each thread:
//
//   LoopResult RunSomething(const ThreadContext& w, Session& session) {
//     w.meter.Start();
//     ... calls on `session`, each answer passed to w.check ...
//     return {.operations = n, .loop_ns = w.meter.StopNs(n)};
//   }

#ifndef COMMON_LOOPS_RUN_CONTEXT_H_
#define COMMON_LOOPS_RUN_CONTEXT_H_

#include <cstdint>

#include "common/driver.h"
#include "common/oracle/check.h"
#include "common/oracle/oracle.h"
#include "common/random/thread_share.h"
#include "common/recording/loop_result.h"
#include "common/spec/config.h"
#include "common/stream/leveldb_stream.h"
#include "common/stream/values.h"
#include "common/timing/clock.h"
#include "common/timing/meter.h"
#include "common/timing/progress.h"

namespace kvmatrix {

class Mix;
class ThreadGroup;

// One run of a benchmark: what its threads share.  Everything referred to
// outlives the run.  A member may be used by all threads at once unless its
// comment says otherwise.
struct RunContext {
  // Constant data.  Loops read only `scans` and `stores`, and call the engine
  // through their Session.
  const Driver& driver;
  const Benchmark& benchmark;
  const Config& config;
  // Generates the values of this benchmark and recognises them.
  const Values& values;
  // Of this occurrence of the benchmark in the process; see StreamSeed().  A
  // thread derives its own seed with thread_share.SeedOf().
  uint64_t stream_seed;
  // What the database contains.  A loop keeps it up to date or leaves that to
  // WriteStream::Finish().  See Oracle for what several threads may call.
  Oracle& oracle;
  Clock& clock;
  Progress& progress;  // of --progress; the meters count in it
  // The operations of a mix.  Loops call NewStream() and const methods.
  Mix* mix = nullptr;  // not null for Kind::kMix
  // The program that is replayed.  Not thread-safe: a replay has one thread.
  ReplayedStream* replay = nullptr;  // null: --stream is this program's own
  // Of the loops before the measured ones; nothing: there are none.
  std::optional<uint64_t> warmup_seed = {};
};

// The same for one thread, with what only that thread uses.
struct ThreadContext : RunContext {
  Check& check;  // tally of the answers that this thread receives
  // The loop calls Start() and StopNs() once each.
  Meter& meter;
  ThreadShare thread_share;  // which part of the work is this thread's
  ThreadGroup* group;        // null: the only thread, and no other one writes
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_RUN_CONTEXT_H_
