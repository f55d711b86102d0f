// Selects a mix by the name of its benchmark.

#ifndef COMMON_MIXES_MIXES_H_
#define COMMON_MIXES_MIXES_H_

#include <memory>

#include "common/mixes/mix_workload.h"
#include "common/oracle/oracle.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Throws std::runtime_error if the database that `oracle` describes is not the
// one that the mix needs; what() names the benchmark that fills it.  The
// arguments outlive the mix.  REQUIRES: IsMix(benchmark)
std::unique_ptr<Mix> MakeMix(const Benchmark& benchmark, const Config& config,
                             Oracle& oracle);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIXES_H_
