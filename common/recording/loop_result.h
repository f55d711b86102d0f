// The result of a timed loop, as plain data.
//
// A loop returns one for its thread; loops/parallel_run.cc adds up those of
// several threads.  How long each call took is recorded by the meter, not here.

#ifndef COMMON_RECORDING_LOOP_RESULT_H_
#define COMMON_RECORDING_LOOP_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/recording/tick_histogram.h"

namespace kvmatrix {

// Of one thread, or the total of several.
struct LoopResult {
  uint64_t operations = 0;  // completed; entries, also in batches
  // From the common start to the end of this loop, or of the slowest one.
  uint64_t loop_ns = 0;
  uint64_t found = 0;   // entries that were requested and present
  uint64_t digest = 0;  // sum of the fingerprints of the entries read
  uint64_t bytes = 0;   // of keys and values that were written or found

  // For how long threads waited to write a key that another one was writing:
  // the harness's doing and not the engine's.  Part of loop_ns.
  uint64_t claim_wait_ns = 0;

  // For a mix: the operations of each type, which add up to `operations`, and
  // their latencies if calls were timed (in ticks, or nanoseconds in an open
  // loop).  Types by OperationName(); those without operations are left out.
  std::map<std::string, uint64_t> by_type = {};
  std::map<std::string, TickHistogram> ticks_by_type = {};

  // For a scan that no time limit ended: the most entries that it visits.
  std::optional<uint64_t> scan_limit = {};

  std::string label = {};  // text shown after the benchmark's name
};

// A property of the operations drawn, next to its expectation.  Both are shares
// between 0 and 1, or amounts in the unit at the end of `what`, such as "mean
// value size, bytes".  For people, and for report/trust/breakdown_rules.py,
// which rejects shares that chance does not explain.
struct Share {
  std::string what;
  double observed = 0;
  double expected = 0;
  uint64_t draws = 0;  // that a share is one of; 0: an amount
};

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_LOOP_RESULT_H_
