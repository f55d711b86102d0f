// The key space of a benchmark.
//
// In mixes/ and not in spec/quantities.h, because that of YCSB follows from its
// workloads.

#ifndef COMMON_MIXES_KEY_SPACE_H_
#define COMMON_MIXES_KEY_SPACE_H_

#include <cstdint>

#include "common/mixes/ycsb.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/spec/quantities.h"

namespace kvmatrix {

// Returns the number of keys from which the benchmark, and every later one on
// the same database, draws: keys are below it.  At least one.
//
// The runner gives the oracle this size when the benchmark fills a database;
// for YCSB it depends on --num, --reads and --threads, so a workload must run
// with those of its load if they matter (see YcsbKeySpace()).  A replayed
// stream has a key space of its own.
inline uint64_t KeySpaceOf(const Benchmark& benchmark, const Config& config) {
  return UsesYcsbRecords(benchmark)
             ? YcsbKeySpace(config.num, config.reads * config.threads)
             : EntriesOf(benchmark, config);
}

}  // namespace kvmatrix

#endif  // COMMON_MIXES_KEY_SPACE_H_
