// The loops that visit one entry after another, in one call on the engine.

#ifndef COMMON_LOOPS_SCAN_LOOP_H_
#define COMMON_LOOPS_SCAN_LOOP_H_

#include "common/driver.h"
#include "common/loops/run_context.h"
#include "common/oracle/oracle.h"

namespace kvmatrix {

// Visits at most --reads entries from one end, each checked.  Unless time cut
// it short, the result has a scan_limit and must still be given to
// CheckComplete().  No other thread writes meanwhile.
// REQUIRES: the access of context.benchmark is kForward or kBackward
LoopResult RunScan(const ThreadContext& context, Session& session);

// A scan has visited the first entries of `all` that the oracle holds, as many
// as its limit.  Tells the check if it has not.  REQUIRES: loop.scan_limit
void CheckComplete(const ThreadContext& context, const LoopResult& loop,
                   const Oracle::Contents& all);

// The audit: every entry once, then sampled keys that must be there and sampled
// keys that must not.
LoopResult RunVerify(const ThreadContext& context, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_SCAN_LOOP_H_
