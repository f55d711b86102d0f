// The timed loop of a mix, such as a workload of YCSB or mixgraph.

#ifndef COMMON_LOOPS_MIX_LOOP_H_
#define COMMON_LOOPS_MIX_LOOP_H_

#include "common/driver.h"
#include "common/loops/run_context.h"

namespace kvmatrix {

// Performs --reads operations of context.mix, each answer checked.  With
// several threads each one claims the keys that it writes, and a read may
// return any version that was current during the call.  REQUIRES:
// context.benchmark is of Kind::kMix
LoopResult RunMix(const ThreadContext& context, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_MIX_LOOP_H_
