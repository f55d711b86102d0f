// Repeats a benchmark in whole passes until it has worked for long enough.

#ifndef COMMON_RUN_PASSES_H_
#define COMMON_RUN_PASSES_H_

#include "common/run/measurement.h"
#include "common/run/runner.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// At most this many passes are made, however short they are.
inline constexpr uint64_t kMostPasses = 1'000;
inline constexpr uint64_t kMostPassesOfNothing = 10;  // if nothing is stored

// Runs `benchmark` in passes until their loops and flushes have taken
// config.min_time_ns together; at least one.  (Google Benchmark repeats its
// iterations in the same way, up to its --benchmark_min_time.)
//
// If config.passes is not 0, there are so many instead, so that processes that
// are compared do the same.
//
// Every pass is what the only one would be: a fill starts with a new database,
// a read with one that has just been opened, and all have the same keys and
// values.  After each pass that writes but the last, a scan compares the number
// and the bytes of all entries; the last database is there for the audit of
// another process, and only after the last pass the idle engine is watched.
//
// The result has the sums of all passes, and the times of each in `passes`; a
// failed pass gives its own status, and a reason that names it.
//
// `report`: not empty if the process is to be killed after the flush of the
// last pass; see Runner::RunAndCrash().  `next`: see Runner::Run().
// REQUIRES: config.min_time_ns is 0, or CanRepeat(benchmark)
Measurement RunPasses(Runner& runner, const Benchmark& benchmark,
                      const Config& config, const Benchmark* next,
                      const Runner::Reporter& report);

}  // namespace kvmatrix

#endif  // COMMON_RUN_PASSES_H_
