// From which keys a benchmark takes its own.

#ifndef COMMON_MIXES_KEY_SPACE_H_
#define COMMON_MIXES_KEY_SPACE_H_

#include <cstdint>

#include "common/mixes/ycsb.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/spec/quantities.h"

namespace kvmatrix {

// Keys from which the benchmark, or whatever follows it, takes its own.
inline uint64_t KeySpaceOf(const Benchmark& benchmark, const Config& config) {
  return IsYcsb(benchmark)
             ? YcsbKeySpace(config.num, config.reads * config.threads)
             : EntriesOf(benchmark, config);
}

}  // namespace kvmatrix

#endif  // COMMON_MIXES_KEY_SPACE_H_
