// Limits of the engine and of this process: compares what a benchmark will
// write with what the engine accepts, before a clock is started, and explains
// errors by what the process may use.

#ifndef COMMON_RUN_LIMITS_H_
#define COMMON_RUN_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "common/driver.h"
#include "common/oracle/oracle.h"
#include "common/spec/config.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Throws Unsupported, with both numbers, if a Write() of the benchmark would
// exceed a limit: with its keys, the largest of its values, or the largest
// batch of any thread.  `values` are those of the benchmark.  Does nothing for
// a benchmark that does not change the database.
void RequireWithin(const Limits& limits, const Benchmark& benchmark,
                   const Config& config, const Values& values);

// Returns an error of the engine with the limit of this process that explains
// it: of address space, open files, the size of files or the number of
// processes (setrlimit(2)).  Returns it as it is if no such limit is set.
// `mapped` is the size of the engine's map, --map_size; 0: it has none.
std::string Explained(std::string_view error, uint64_t mapped);

// Throws std::runtime_error, with the remedy, if an existing database has
// entries right behind the keys that `oracle` knows, with the values that this
// program would have given them: it was filled with a larger --num.  Called
// once a benchmark has been measured, whose engine the gets would otherwise
// warm up.
void RequireNoMore(Session& session, const Oracle& oracle, const Values& values,
                   const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_RUN_LIMITS_H_
