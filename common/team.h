// One benchmark's loop, run by as many threads as --threads says.

#ifndef COMMON_TEAM_H_
#define COMMON_TEAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/config.h"
#include "common/crew.h"
#include "common/driver.h"
#include "common/measurement.h"
#include "common/meter.h"
#include "common/oracle.h"
#include "common/progress.h"
#include "common/resources.h"
#include "common/values.h"
#include "common/workload.h"

namespace kvmatrix {

// What a team works on and with.
struct Job {
  const Driver& driver;
  const Benchmark& benchmark;
  const Config& config;
  const Values& values;
  uint64_t stream_seed;
  Oracle& oracle;
  Clock& clock;
  Progress& progress;
  Mix* mix = nullptr;                // of a benchmark of Kind::kMix
  ReplayedStream* replay = nullptr;  // null: the own stream
};

// What all threads have done together.
struct TeamResult {
  LoopResult loop{};
  Course course;
  Resources used;
  std::vector<uint64_t> operations_by_thread;  // of those that may write
  std::map<std::string, Histogram> latency_by_type;
  std::optional<WriterFigures> writer;
  std::string failure;  // the first wrong answer; empty: there was none
  // Of several threads, which hold their sessions until it is destroyed; null:
  // there is one thread.
  std::unique_ptr<Crew> crew;
};

// Threads whose operations are counted.
uint64_t ThreadsOf(const Benchmark& benchmark, const Config& config);

// Sessions that use the database at once.
uint64_t SessionsOf(const Benchmark& benchmark, const Config& config);

// True if the threads are one, which is the caller's own.
inline bool IsAlone(const Benchmark& benchmark, const Config& config) {
  return SessionsOf(benchmark, config) == 1;
}

// Operations of all threads together, as far as no time limit ends them.  What
// `stores` nothing has as many entries to scan as it was asked to write.
uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle, bool stores);

// Runs the loop.  `session` is that of a thread that is alone; the others make
// their own.  The oracle then records what the database must hold.  Throws what
// the first thread that failed has thrown.  The job and the database outlive
// the result's crew.
TeamResult RunTeam(const Job& job, Database& database, Session* session);

// Records what the threads of a past benchmark have done.
void Replay(const PastBenchmark& past, const Config& config,
            uint64_t stream_seed, Oracle& oracle, ReplayedStream* replay);

}  // namespace kvmatrix

#endif  // COMMON_TEAM_H_
