// Selects a mix by the name of its benchmark.

#ifndef COMMON_MIXES_MIXES_H_
#define COMMON_MIXES_MIXES_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/mixes/mix_workload.h"
#include "common/oracle/oracle.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/spec/operation.h"

namespace kvmatrix {

// Returns the types of operations of a mix, each with its share; none where
// flags determine the share.  Empty for a benchmark that is no mix.
std::vector<std::pair<Operation, std::optional<double>>> TypesOf(
    const Benchmark& benchmark);

// Returns the mix of a run, or of its replay, which starts with the database
// that `oracle` describes.  The arguments outlive the mix.  May allocate the
// oracle's table, so no other thread may use the oracle meanwhile.
//
// Throws std::runtime_error if the database is not the one that the mix needs;
// what() names the benchmark that fills it, or what is missing.
// REQUIRES: IsMix(benchmark)
std::unique_ptr<Mix> MakeMix(const Benchmark& benchmark, const Config& config,
                             Oracle& oracle);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIXES_H_
