// The key space of a benchmark.

#ifndef COMMON_MIXES_KEY_SPACE_H_
#define COMMON_MIXES_KEY_SPACE_H_

#include <cstdint>

#include "common/mixes/ycsb.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/spec/quantities.h"

namespace kvmatrix {

// Returns the number of keys from which the benchmark, and every later one on
// the same database, draws: keys are below it.
inline uint64_t KeySpaceOf(const Benchmark& benchmark, const Config& config) {
  return IsYcsb(benchmark)
             ? YcsbKeySpace(config.num, config.reads * config.threads)
             : EntriesOf(benchmark, config);
}

}  // namespace kvmatrix

#endif  // COMMON_MIXES_KEY_SPACE_H_
