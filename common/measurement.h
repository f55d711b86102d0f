// The result of one benchmark.

#ifndef COMMON_MEASUREMENT_H_
#define COMMON_MEASUREMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/benchmark.h"
#include "common/histogram.h"
#include "common/open_loop.h"
#include "common/resources.h"
#include "common/timeline.h"

namespace kvmatrix {

// Raised when result lines gain or change fields.
inline constexpr int kSchema = 3;
// Raised when figures stop being comparable with those of earlier versions.
inline constexpr int kMethod = 1;

enum class Status { kOk, kUnsupported, kWrong, kError };

std::string_view StatusName(Status status);

// How the benchmark left the database.
enum class Ending {
  kClosed,  // settled and closed by the engine
  kKilled,  // after the flush, as kill -9 does: neither settled nor closed
  kOpen,    // to the next benchmark of the process; see Runner
};

std::string_view EndingName(Ending ending);

// The writer that runs beside the readers of a benchmark with `writer`.
struct WriterFigures {
  uint64_t operations = 0;
  uint64_t loop_ns = 0;
  uint64_t bytes = 0;           // of keys and values
  double rate_ops_per_sec = 0;  // asked for; 0: as fast as it goes
  std::optional<Histogram> latency;
};

// Of the operations of a loop how many went where, beside what the distribution
// that was asked for predicts; both between 0 and 1, or what `what` says at its
// end, such as "bytes".
struct Share {
  std::string what;
  double share = 0;
  double theory = 0;
};

// Figures are meaningful only if the status is kOk: a benchmark that failed has
// a reason and no time.
struct Measurement {
  const Benchmark* benchmark = nullptr;
  Status status = Status::kOk;
  std::string reason;     // why the status is not kOk
  bool verified = false;  // every answer was compared with the oracle

  std::string label;  // of what the name of the benchmark leaves open

  uint64_t threads = 1;  // whose operations are counted
  uint64_t planned_operations = 0;
  uint64_t operations = 0;
  uint64_t found = 0;  // entries read
  // What `found` is printed as a part of; 0: it is not.  Nothing: operations.
  std::optional<uint64_t> found_of;
  uint64_t bytes = 0;       // of keys and values written or read
  uint64_t live_bytes = 0;  // of keys and values that must be there afterwards
  bool truncated = false;   // --duration ended the loop
  // Of the entries read, or of all that were written; nothing where several
  // threads make it a matter of chance.
  std::optional<uint64_t> digest;

  // Of a benchmark that writes: by each thread that does, as --after takes it.
  std::vector<uint64_t> operations_by_thread;
  // Of a benchmark that mixes types of operations; empty of any other.
  std::map<std::string, uint64_t> operations_by_type;
  std::map<std::string, Histogram> latency_by_type;
  std::optional<WriterFigures> writer;
  std::vector<Share> shares;

  uint64_t open_ns = 0;
  uint64_t loop_ns = 0;
  uint64_t flush_ns = 0;
  uint64_t settle_ns = 0;
  uint64_t close_ns = 0;
  Ending ending = Ending::kClosed;

  std::map<std::string, std::string> settings;  // read back from the engine
  std::map<std::string, uint64_t> counters;     // see Database::Counters()
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
