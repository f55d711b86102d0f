// Compares what a benchmark will write with what the engine accepts, before a
// clock is started.

#ifndef COMMON_RUN_LIMITS_H_
#define COMMON_RUN_LIMITS_H_

#include "common/driver.h"
#include "common/spec/config.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Throws Unsupported, with both numbers, if a Write() of the benchmark would
// exceed a limit: with its keys, the largest of its values, or the largest
// batch of any thread.  `values` are those of the benchmark.  Does nothing for
// a benchmark that does not change the database.
void RequireWithin(const Limits& limits, const Benchmark& benchmark,
                   const Config& config, const Values& values);

}  // namespace kvmatrix

#endif  // COMMON_RUN_LIMITS_H_
