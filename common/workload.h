// What a timed loop works on and with.

#ifndef COMMON_WORKLOAD_H_
#define COMMON_WORKLOAD_H_

#include <cstdint>

#include "common/check.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/driver.h"
#include "common/leveldb_stream.h"
#include "common/loop_result.h"
#include "common/meter.h"
#include "common/oracle.h"
#include "common/part.h"
#include "common/progress.h"
#include "common/values.h"

namespace kvmatrix {

class Mix;
class ThreadGroup;

// One run of a benchmark: what its threads share.
struct Job {
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
struct Workload : Job {
  Check& check;
  Meter& meter;
  Part part;
  ThreadGroup* group;  // null: there is one thread, and no other writes
};

}  // namespace kvmatrix

#endif  // COMMON_WORKLOAD_H_
