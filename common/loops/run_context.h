// What a timed loop works on and with.

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

// One run of a benchmark: what its threads share.
struct RunContext {
  const Driver& driver;
  const Benchmark& benchmark;
  const Config& config;
  const Values& values;
  uint64_t stream_seed;
  Oracle& oracle;
  Clock& clock;
  Progress& progress;
  Mix* mix = nullptr;                // of a benchmark of Kind::kMix
  ReplayedStream* replay = nullptr;  // null: the own stream
};

// The same for one thread, with what it has alone.
struct ThreadContext : RunContext {
  Check& check;
  Meter& meter;
  ThreadShare thread_share;
  ThreadGroup* group;  // null: there is one thread, and no other writes
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_RUN_CONTEXT_H_
