// The result of one benchmark.

#ifndef COMMON_MEASUREMENT_H_
#define COMMON_MEASUREMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/benchmark.h"
#include "common/histogram.h"
#include "common/open_loop.h"
#include "common/resources.h"
#include "common/timeline.h"

namespace kvmatrix {

// Raised when result lines gain or change fields.
inline constexpr int kSchema = 2;
// Raised when figures stop being comparable with those of earlier versions.
inline constexpr int kMethod = 1;

enum class Status { kOk, kUnsupported, kWrong, kError };

std::string_view StatusName(Status status);

// How the process left the database.
enum class Ending {
  kClosed,  // settled and closed by the engine
  kKilled,  // after the flush, as kill -9 does: neither settled nor closed
};

std::string_view EndingName(Ending ending);

// Figures are meaningful only if the status is kOk: a benchmark that failed has
// a reason and no time.
struct Measurement {
  const Benchmark* benchmark = nullptr;
  Status status = Status::kOk;
  std::string reason;     // why the status is not kOk
  bool verified = false;  // every answer was compared with the oracle

  uint64_t planned_operations = 0;
  uint64_t operations = 0;
  uint64_t found = 0;       // entries read
  uint64_t bytes = 0;       // of keys and values written or read
  uint64_t live_bytes = 0;  // of keys and values that must be there afterwards
  bool truncated = false;   // --duration ended the loop
  uint64_t digest = 0;      // of the entries read, or of all that were written

  uint64_t open_ns = 0;
  uint64_t loop_ns = 0;
  uint64_t flush_ns = 0;
  uint64_t settle_ns = 0;
  uint64_t close_ns = 0;
  Ending ending = Ending::kClosed;

  std::map<std::string, std::string> settings;  // read back from the engine
  Resources used;            // by the loop and the flush, as the headline
  Resources deferred;        // by settling, the idle time after it and closing
  uint64_t idle_cpu_ns = 0;  // CPU time in the 10 ms after settling

  // See ResidentMemory and DiskBytes() for what these count.
  uint64_t peak_rss_bytes = 0;       // from the start of the process
  uint64_t anonymous_rss_bytes = 0;  // when the loop had ended
  uint64_t file_rss_bytes = 0;       // when the loop had ended
  uint64_t disk_bytes = 0;           // at the end
  uint64_t peak_disk_bytes = 0;  // the most after flush, settling and closing

  Timeline timeline;  // none of a benchmark that is one call
  Stalls stalls;
  std::optional<Histogram> latency;  // of each call; see Meter
  std::optional<Histogram> service;  // of each call of an open loop
  std::optional<OpenLoopFigures> open_loop;
};

}  // namespace kvmatrix

#endif  // COMMON_MEASUREMENT_H_
