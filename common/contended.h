// Loops of threads that write the same keys at once, or read them meanwhile.

#ifndef COMMON_CONTENDED_H_
#define COMMON_CONTENDED_H_

#include <cstdint>

#include "common/driver.h"
#include "common/workload.h"
#include "common/write_stream.h"

namespace kvmatrix {

// The part of one thread of a writing benchmark.  REQUIRES: stream.contended()
LoopResult RunClaimedWrites(const Workload& workload, Session& session,
                            WriteStream& stream, uint64_t entries,
                            uint64_t batch_size);

// Gets beside threads that write.
LoopResult RunContendedGets(const Workload& workload, Session& session);

// Seeks beside threads that write, and delete nothing.
LoopResult RunContendedSeeks(const Workload& workload, Session& session);

}  // namespace kvmatrix

#endif  // COMMON_CONTENDED_H_
