// What a list of benchmarks on the command line says.

#ifndef COMMON_CLI_AFTER_LIST_H_
#define COMMON_CLI_AFTER_LIST_H_

#include <string_view>
#include <vector>

#include "common/spec/config.h"

namespace kvmatrix {

// The benchmark of that name; else throws UsageError, which names the flag.
const Benchmark* RequireBenchmark(std::string_view flag, std::string_view name);

// Reads a list of such words: what the database has been through, in order.
// Throws UsageError if it does not begin with what fills a database.
std::vector<AppliedBenchmark> ParseAfterList(std::string_view list,
                                             const Config& config);

// Reads "overwrite", "overwrite:5000" or, of each thread that wrote,
// "overwrite:2500+2500".  Without a number one thread has done it all.
AppliedBenchmark ParseAfterWord(std::string_view word, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_AFTER_LIST_H_
