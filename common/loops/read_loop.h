// The loops that read one key after another.

#ifndef COMMON_LOOPS_READ_LOOP_H_
#define COMMON_LOOPS_READ_LOOP_H_

#include "common/driver.h"
#include "common/loops/workload.h"

namespace kvmatrix {

// Gets or seeks --reads keys of the benchmark, each answer checked.  Where the
// benchmark has a writer, which deletes nothing, an answer may be of any
// version that was current during the call. REQUIRES:
// DrawsKeys(workload.benchmark), which is of Kind::kRead
LoopResult RunReads(const Workload& workload, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_READ_LOOP_H_
