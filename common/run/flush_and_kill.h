// Kills a process right after a flush, and goes on without it.

#ifndef COMMON_RUN_FLUSH_AND_KILL_H_
#define COMMON_RUN_FLUSH_AND_KILL_H_

#include <cstdint>
#include <functional>

#include "common/timing/clock.h"

namespace kvmatrix {

// The name of the forked process, by which whoever has started the killed one
// tells it from processes that an engine has left (as in /proc/PID/comm).
inline constexpr char kReporterName[] = "db_bench_report";

// Forks, calls `flush` in this process and kills it with SIGKILL.  Between the
// two there are only a reading of the clock and a write of 8 bytes, so that no
// thread of an engine has time to complete what the flush has left out.
//
// Returns in the forked process, with the duration of the flush.  That process
// has a copy of the memory and only the calling thread: it must not use the
// engine, nor run its destructors.  It outlives the killed one.
//
// Throws in this process what `flush` throws; the forked one has then ended.
// Throws std::system_error if there can be no further process.
uint64_t FlushAndKill(Clock& clock, const std::function<void()>& flush);

}  // namespace kvmatrix

#endif  // COMMON_RUN_FLUSH_AND_KILL_H_
