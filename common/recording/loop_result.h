// What comes of a timed loop.

#ifndef COMMON_RECORDING_LOOP_RESULT_H_
#define COMMON_RECORDING_LOOP_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/recording/tick_histogram.h"

namespace kvmatrix {

// Of one thread, or of several together.
struct LoopResult {
  uint64_t operations = 0;
  uint64_t loop_ns = 0;
  uint64_t found = 0;   // entries that were asked for and there
  uint64_t digest = 0;  // sum of the fingerprints of the entries read
  uint64_t bytes = 0;   // of the keys and values that were written or found

  // Of a mix, for each type; the operations add up to `operations`.
  std::map<std::string, uint64_t> by_type = {};
  std::map<std::string, TickHistogram> ticks_by_type = {};

  // Of a scan that nothing cut short: entries that it visits at most.
  std::optional<uint64_t> scan_limit = {};

  std::string label = {};  // what the name of the benchmark leaves open
};

// Observed share of the operations of a loop, and the share that the
// distribution predicts; both between 0 and 1, or in the unit at the end of
// `what`, such as "bytes".
struct Share {
  std::string what;
  double observed = 0;
  double expected = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_LOOP_RESULT_H_
