// The loops that are timed.

#ifndef COMMON_WORKLOAD_H_
#define COMMON_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/check.h"
#include "common/config.h"
#include "common/driver.h"
#include "common/leveldb_stream.h"
#include "common/measurement.h"
#include "common/meter.h"
#include "common/oracle.h"
#include "common/tick_histogram.h"
#include "common/values.h"

namespace kvmatrix {

class Mix;

// All that a loop works with.
struct Workload {
  const Benchmark& benchmark;
  const Config& config;
  const Values& values;
  uint64_t stream_seed;
  Oracle& oracle;
  Check& check;
  Meter& meter;
  Mix* mix = nullptr;                // of a benchmark of Kind::kMix
  ReplayedStream* replay = nullptr;  // null: the own stream
};

struct LoopResult {
  uint64_t operations;
  uint64_t loop_ns;
  uint64_t found = 0;   // entries that were asked for and there
  uint64_t digest = 0;  // sum of the fingerprints of the entries read
  // Of the entries written, or of those found; only where sizes differ.
  uint64_t value_bytes = 0;

  // Of a mix: bytes of the keys and values read and written, and the operations
  // and latencies of each type.  The operations add up to `operations`.
  uint64_t bytes = 0;
  std::map<std::string, uint64_t> by_type = {};
  std::map<std::string, TickHistogram> latency_by_type = {};
  std::vector<Share> shares = {};
};

// Puts or deletes; leaves in the oracle what the database must hold.
LoopResult RunWrites(const Workload& workload, Session& session);

// Gets, seeks or a scan, each answer checked.
LoopResult RunReads(const Workload& workload, Session& session);

// A mix of operations: --reads of them.  Defined in mix_loop.cc.
// REQUIRES: the benchmark is of Kind::kMix
LoopResult RunMix(const Workload& workload, Session& session);

// The audit: every entry once, then sampled keys that must be
// there and sampled keys that must not.  `ordered`: entries come in key order.
LoopResult RunVerify(const Workload& workload, Session& session, bool ordered);

}  // namespace kvmatrix

#endif  // COMMON_WORKLOAD_H_
