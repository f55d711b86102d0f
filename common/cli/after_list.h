// What a list of benchmarks on the command line says.

#ifndef COMMON_CLI_AFTER_LIST_H_
#define COMMON_CLI_AFTER_LIST_H_

#include <string_view>
#include <vector>

#include "common/spec/config.h"

namespace kvmatrix {

// The words between the separators; an empty list has none.
std::vector<std::string_view> Split(std::string_view list,
                                    char separator = ',');

// The benchmark of that name; else throws UsageError, which names the flag.
const Benchmark* Named(std::string_view flag, std::string_view name);

// Reads a list of such words: what the database has been through, in order.
// Throws UsageError if it does not begin with what fills a database.
std::vector<PastBenchmark> PastList(std::string_view list,
                                    const Config& config);

// Reads "overwrite", "overwrite:5000" or, of each thread that wrote,
// "overwrite:2500+2500".  Without a number one thread has done it all.
PastBenchmark Past(std::string_view word, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_CLI_AFTER_LIST_H_
