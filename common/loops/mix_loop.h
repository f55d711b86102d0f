// The loop of a mix.

#ifndef COMMON_LOOPS_MIX_LOOP_H_
#define COMMON_LOOPS_MIX_LOOP_H_

#include "common/driver.h"
#include "common/loops/run_context.h"

namespace kvmatrix {

// Does --reads operations of context.mix.  Where there are several threads,
// each claims what it writes, and an answer may be of any version that was
// current during the call.  REQUIRES: context.benchmark is of Kind::kMix
LoopResult RunMix(const ThreadContext& context, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_MIX_LOOP_H_
