// The loops that visit one entry after another in a single call on the engine.

#ifndef COMMON_LOOPS_SCAN_LOOP_H_
#define COMMON_LOOPS_SCAN_LOOP_H_

#include "common/driver.h"
#include "common/loops/run_context.h"
#include "common/oracle/oracle.h"

namespace kvmatrix {

// Visits at most --reads entries from one end, each checked.  Unless a time
// limit ended the scan, the result has a scan_limit and must be passed to
// CheckComplete().  No other thread may write meanwhile.  REQUIRES: the access
// of context.benchmark is kForward or kBackward
LoopResult RunScan(const ThreadContext& context, Session& session);

// Checks that a scan visited as many entries as it should have: its limit, or
// all that the oracle holds (`all`), and each of them once.  Records a failure
// in context.check.  REQUIRES: loop.scan_limit has a value
void CheckComplete(const ThreadContext& context, const LoopResult& loop,
                   const Oracle::Contents& all);

// The audit: visits every entry once, then gets 10,000 sampled keys and 1,000
// keys that must be absent, and seeks 1,000 absent ones, in each direction in
// which the driver scans in key order.  Only the scan is timed.
LoopResult RunVerify(const ThreadContext& context, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_SCAN_LOOP_H_
