// The rules about several flags, and about flags and benchmarks, that one
// flag's range does not state: two tables, asked of every command line.

#ifndef COMMON_CLI_RULES_H_
#define COMMON_CLI_RULES_H_

#include "common/spec/config.h"

namespace kvmatrix {

// Throws UsageError for the first rule that `config` breaks, with its
// benchmarks and those of its --after.
void CheckRules(const Config& config);

// Throws UsageError if the flags make no such benchmark, or no database for it.
void CheckBenchmark(const Benchmark& benchmark, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_RULES_H_
