// How much work a benchmark is under a configuration.

#ifndef COMMON_SPEC_QUANTITIES_H_
#define COMMON_SPEC_QUANTITIES_H_

#include <algorithm>
#include <cstdint>

#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Entries that a writing benchmark writes, at least one.  What is replayed has
// no batch that is smaller than the others.
inline uint64_t EntriesOf(const Benchmark& benchmark, const Config& config) {
  uint64_t entries = config.num / benchmark.num_divisor;
  if (config.stream != StreamKind::kOwn && benchmark.batch_size > 1) {
    entries += benchmark.batch_size - 1;
    entries -= entries % benchmark.batch_size;
  }
  return entries == 0 ? 1 : entries;
}

// Operations of a benchmark that reads one key after another, at least one, and
// the most entries that a scan visits.
inline uint64_t ReadsOf(const Benchmark& benchmark, const Config& config) {
  const uint64_t reads = config.reads / benchmark.num_divisor;
  return reads == 0 ? 1 : reads;
}

inline uint64_t ValueSizeOf(const Benchmark& benchmark, const Config& config) {
  return benchmark.value_size == 0 ? config.value_size : benchmark.value_size;
}

inline uint64_t BatchSizeOf(const Benchmark& benchmark, const Config& config) {
  if (benchmark.batch_size != 0) return benchmark.batch_size;
  if (config.transactions == 0) return config.batch_size;
  return std::max<uint64_t>(1,
                            EntriesOf(benchmark, config) / config.transactions);
}

inline bool SyncOf(const Benchmark& benchmark, const Config& config) {
  return benchmark.sync || config.sync;
}

}  // namespace kvmatrix

#endif  // COMMON_SPEC_QUANTITIES_H_
