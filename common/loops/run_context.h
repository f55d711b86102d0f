// What a timed loop works on and with.  Loops call their ThreadContext `w`.

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
// outlives the run.
struct RunContext {
  const Driver& driver;
  const Benchmark& benchmark;
  const Config& config;
  const Values& values;
  uint64_t stream_seed;
  Oracle& oracle;
  Clock& clock;
  Progress& progress;
  Mix* mix = nullptr;                // not null for Kind::kMix
  ReplayedStream* replay = nullptr;  // null: --stream is this program's own
};

// The same for one thread, with what only that thread uses.
struct ThreadContext : RunContext {
  Check& check;
  Meter& meter;
  ThreadShare thread_share;
  ThreadGroup* group;  // null: the only thread, and no other one writes
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_RUN_CONTEXT_H_
