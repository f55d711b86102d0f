// The driver of an executable that is linked with it: all but db_bench_plugin.

#include "common/cli/executable.h"

namespace kvmatrix {

const Driver& SelectDriver(std::vector<const char*>&) { return kDriver; }

const BuildFacts& GetBuildFacts() { return kBuildFacts; }

}  // namespace kvmatrix
