// The loops that are timed.

#ifndef COMMON_WORKLOAD_H_
#define COMMON_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/check.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/crew.h"
#include "common/driver.h"
#include "common/leveldb_stream.h"
#include "common/measurement.h"
#include "common/meter.h"
#include "common/oracle.h"
#include "common/part.h"
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
  Part part = {};        // of the thread, which has a check and a meter alone
  Crew* crew = nullptr;  // of several threads; null: there is one
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

  // Of a scan that nothing cut short: entries that it visits at most.
  std::optional<uint64_t> scan_limit = {};

  std::string label = {};  // of a primitive: what db_bench prints beside it
};

// Puts or deletes, of several threads the part of one.  Once all have ended,
// WriteStream::Finish() leaves in the oracle what the database must hold.
LoopResult RunWrites(const Workload& workload, Session& session);

// Gets, seeks or a scan, each answer checked; a scan must still be given to
// CheckComplete().
LoopResult RunReads(const Workload& workload, Session& session);

// A scan has visited the first entries that `all` holds, its limit of them.
// Tells the check if it has not.  REQUIRES: loop.scan_limit
void CheckComplete(const Workload& workload, const LoopResult& loop,
                   const Oracle::Contents& all);

// Gets and puts, decided by chance one by one, of keys drawn at random.
LoopResult RunReadsAndWrites(const Workload& workload, Session& session);

// Records so many operations of each thread of RunReadsAndWrites().
void ReplayReadsAndWrites(const Benchmark& benchmark, const Config& config,
                          uint64_t stream_seed,
                          std::span<const uint64_t> operations, Oracle& oracle);

// Overwrites random keys until the readers of the crew have ended, each entry
// at its moment of a schedule fixed by --writes_per_second.  The readers start
// once the first is written.  The workload has a part, a stream seed and a
// meter of its own.
LoopResult RunWriter(const Workload& workload, Session& session, Clock& clock);

// Records so many operations of RunWriter().
void ReplayWriter(uint64_t stream_seed, uint64_t operations, Oracle& oracle);

// A mix of operations: --reads of them.  Defined in mix_loop.cc.
// REQUIRES: the benchmark is of Kind::kMix
LoopResult RunMix(const Workload& workload, Session& session);

// The audit: every entry once, then sampled keys that must be
// there and sampled keys that must not.  `ordered`: entries come in key order.
LoopResult RunVerify(const Workload& workload, Session& session, bool ordered);

}  // namespace kvmatrix

#endif  // COMMON_WORKLOAD_H_
