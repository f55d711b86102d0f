// The warm-up of an engine whose code is compiled while it runs.

#ifndef COMMON_RUN_REHEARSAL_H_
#define COMMON_RUN_REHEARSAL_H_

#include <optional>

#include "common/driver.h"
#include "common/run/measurement.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/timing/clock.h"

namespace kvmatrix {

// Runs the benchmark on a scratch database, in windows of at least 200 ms,
// until the rates of three windows in a row differ by less than 5 %, or for 10
// s.  Many programs never reach a steady state (Barrett et al., "Virtual
// Machine Warmup Blows Hot and Cold", OOPSLA 2017), so that is reported.
//
// Before an audit, it fills and closes a scratch database once, so that the
// time of opening does not include the start of a virtual machine, and returns
// nothing.  It returns nothing, and does nothing, unless the driver asks for
// it; if the benchmark is compact; or if another program is replayed.
// Errors end the rehearsal: the measurement will have them too.
std::optional<Rehearsal> Rehearse(const Driver& driver,
                                  const Benchmark& benchmark,
                                  const Config& config, Clock& clock);

}  // namespace kvmatrix

#endif  // COMMON_RUN_REHEARSAL_H_
