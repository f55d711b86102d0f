// Rules that concern several flags, or flags and benchmarks together, and that
// the range of a single flag cannot express: two tables, applied to every
// command line.

#ifndef COMMON_CLI_RULES_H_
#define COMMON_CLI_RULES_H_

#include "common/spec/config.h"

namespace kvmatrix {

// Throws UsageError for the first rule that `config` violates, with its
// benchmarks and those of --after.
void CheckRules(const Config& config);

// Throws UsageError if the benchmark cannot run under these flags.
void CheckBenchmark(const Benchmark& benchmark, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_RULES_H_
