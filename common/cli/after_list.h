// Parses --after, the list of benchmarks that an existing database has been
// through.

#ifndef COMMON_CLI_AFTER_LIST_H_
#define COMMON_CLI_AFTER_LIST_H_

#include <string_view>
#include <vector>

#include "common/spec/config.h"

namespace kvmatrix {

// Returns the benchmark called `name`.  Throws UsageError, which names `flag`
// and lists all benchmarks, if there is none.
const Benchmark* RequireBenchmark(std::string_view flag, std::string_view name);

// Parses a list of words as ParseAfterWord() accepts them, in the order in
// which the benchmarks were run.  Throws UsageError if the first of them does
// not fill a database.
std::vector<AppliedBenchmark> ParseAfterList(std::string_view list,
                                             const Config& config);

// Parses "overwrite", "overwrite:5000" (stopped after 5,000 operations) or
// "overwrite:2500+2500" (by each of two threads).  Without a number, one thread
// has completed the benchmark.  Throws UsageError.
AppliedBenchmark ParseAfterWord(std::string_view word, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_AFTER_LIST_H_
