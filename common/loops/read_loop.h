// The loops that read one key after another.

#ifndef COMMON_LOOPS_READ_LOOP_H_
#define COMMON_LOOPS_READ_LOOP_H_

#include "common/driver.h"
#include "common/loops/run_context.h"

namespace kvmatrix {

// Gets or seeks --reads keys of the benchmark, each answer checked.  If the
// benchmark has a writer (which deletes nothing), an answer may have any
// version that was current during the call.  REQUIRES: context.benchmark is of
// Kind::kRead and DrawsKeys() is true for it
LoopResult RunReads(const ThreadContext& context, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_READ_LOOP_H_
