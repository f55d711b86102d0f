// The loops that write.

#ifndef COMMON_LOOPS_WRITE_LOOP_H_
#define COMMON_LOOPS_WRITE_LOOP_H_

#include <cstdint>

#include "common/driver.h"
#include "common/loops/run_context.h"
#include "common/oracle/oracle.h"

namespace kvmatrix {

// Puts or deletes the thread's share of the entries, in batches.  Once all
// threads have ended, WriteStream::Finish() completes the oracle's record.
// REQUIRES: IsWriting(context.benchmark)
LoopResult RunWrites(const ThreadContext& context, Session& session);

// Overwrites random keys until the readers of the group have ended, each at its
// moment of a schedule with --writes_per_second.  The readers start once the
// first entry has been written.  REQUIRES: context.benchmark.writer
LoopResult RunWriter(const ThreadContext& context, Session& session);

// Records `operations` operations of RunWriter() in the oracle.
void ReplayWriter(uint64_t stream_seed, uint64_t operations, Oracle& oracle);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_WRITE_LOOP_H_
