// The result of one benchmark, as plain data.
//
// run/runner.cc fills it; cli/text_output.cc and cli/json_output.cc print it.
// Times are in nanoseconds, sizes in bytes.

#ifndef COMMON_RUN_MEASUREMENT_H_
#define COMMON_RUN_MEASUREMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/loops/parallel_run.h"
#include "common/recording/loop_result.h"
#include "common/spec/benchmark.h"
#include "common/timing/resources.h"

namespace kvmatrix {

// Raised when result lines gain or change fields, with report/schema/.
inline constexpr int kSchema = 3;
// Raised when results are no longer comparable with those of earlier versions;
// CONTRIBUTING.md says when that is.
inline constexpr int kMethod = 4;

// ok; the engine cannot run it; an answer was wrong; anything else failed.  The
// last two make the process end with status 1.
enum class Status { kOk, kUnsupported, kWrong, kError };

// The names in result lines.
constexpr std::string_view StatusName(Status status) {
  constexpr std::string_view kNames[] = {"ok", "unsupported", "wrong", "error"};
  return kNames[static_cast<int>(status)];
}

// How the benchmark left the database.
enum class Ending {
  kClosed,  // settled and closed by the engine
  kKilled,  // after the flush, as kill -9 does: neither settled nor closed
  kOpen,    // for the next benchmark of the process; see Runner
};

// The names in result lines.
constexpr std::string_view EndingName(Ending ending) {
  constexpr std::string_view kNames[] = {"closed", "killed", "open"};
  return kNames[static_cast<int>(ending)];
}

// The warm-up of an engine that is compiled just in time; see rehearsal.h.
struct Rehearsal {
  uint64_t elapsed_ns = 0;
  bool steady = false;  // its last windows had equal rates
};

// The times of one pass of several; see passes.h.
struct Pass {
  uint64_t open_ns = 0;
  uint64_t loop_ns = 0;
  uint64_t flush_ns = 0;
  uint64_t settle_ns = 0;
  uint64_t close_ns = 0;
};

// The names in result lines.
inline constexpr std::pair<const char*, uint64_t Pass::*> kPassTimes[] = {
    {"open_ns", &Pass::open_ns},   {"loop_ns", &Pass::loop_ns},
    {"flush_ns", &Pass::flush_ns}, {"settle_ns", &Pass::settle_ns},
    {"close_ns", &Pass::close_ns},
};

// Counts and times are meaningful only if the status is kOk: a benchmark that
// failed has a reason and no time.  Those of a benchmark that was repeated in
// passes are sums, except that sizes of memory and disk are the largest, and
// `digest`, `live_bytes`, `shares` and `run.trace.first_call_ns` are those of
// each pass or of the first.  `benchmark` is never null in a result of
// Runner.
struct Measurement {
  const Benchmark* benchmark = nullptr;
  Status status = Status::kOk;
  std::string reason;     // why the status is not kOk; else empty
  bool verified = false;  // every answer was compared with the oracle

  uint64_t threads = 1;             // those whose operations are counted
  uint64_t planned_operations = 0;  // those of a run that no limit ends;
                                    // all, if only time ends it
  RunResult run;                    // of the loop; `used`, `lost`: with flush
  // N of "(M of N found)"; 0: no such message; none: the operations.
  std::optional<uint64_t> found_of;
  uint64_t live_bytes =
      0;  // of keys and values that must be present afterwards
  // Sum of the fingerprints of the entries read, or of the entries present
  // after a writing benchmark.  None if it depends on the interleaving of
  // threads.
  std::optional<uint64_t> digest;

  // What was drawn, next to what the distributions predict.  Empty where there
  // is nothing to compare.
  std::vector<Share> shares;

  // Times outside of the loop; 0 if it was not done.  The flush is part of the
  // measured time of a benchmark that writes, the others of none.  Next to
  // readers (Benchmark::writer) the flush is part of settle_ns.  So is what the
  // harness does between the end of the loop and the end of settling.
  uint64_t open_ns = 0;
  uint64_t flush_ns = 0;
  uint64_t settle_ns = 0;
  uint64_t close_ns = 0;
  Ending ending = Ending::kClosed;

  std::optional<Rehearsal> rehearsal;  // before it, in the same process
  std::vector<Pass> passes;            // empty without --min_time

  std::map<std::string, std::string> settings;  // read back from the engine
  std::map<std::string, uint64_t> counters;     // see Database::Counters()
  // Of the watched device after the flush, until settling has ended and the
  // file system is written back; none if nothing settled.  run.used has those
  // of the loop and the flush.
  std::optional<DeviceCounters> device_settle;
  Resources deferred;        // used by settling, the idle time and closing
  uint64_t idle_cpu_ns = 0;  // after settling: see IdleUse::most_cpu_ns
  uint64_t idle_ns = 0;      // of one sleep of that watch; 0: there was none

  // See ResidentMemory and DiskBytes() for what these include.
  uint64_t peak_rss_bytes = 0;       // since the start of the process
  uint64_t anonymous_rss_bytes = 0;  // at the end of the loop
  uint64_t file_rss_bytes = 0;       // at the end of the loop
  uint64_t disk_bytes = 0;           // at the end, after closing if closed
  uint64_t peak_disk_bytes = 0;  // maximum after flush, settling and closing
};

// Returns the times of all passes.
inline Pass TimesOf(const Measurement& m) {
  return {.open_ns = m.open_ns,
          .loop_ns = m.run.loop.loop_ns,
          .flush_ns = m.flush_ns,
          .settle_ns = m.settle_ns,
          .close_ns = m.close_ns};
}

}  // namespace kvmatrix

#endif  // COMMON_RUN_MEASUREMENT_H_
