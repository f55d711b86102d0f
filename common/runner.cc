#include "common/runner.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "common/workload.h"
#include "common/write_stream.h"

namespace kvmatrix {
namespace {

// The time that `action` takes.
template <typename Action>
uint64_t TimeNs(Clock& clock, Action action) {
  const uint64_t start_ns = clock.NowNs();
  action();
  return clock.NowNs() - start_ns;
}

LoopResult RunLoop(const Workload& workload, const Driver& driver,
                   Database& database, Session& session) {
  switch (workload.benchmark.kind) {
    case Kind::kRead:
      return RunReads(workload, session);
    case Kind::kVerify:
      return RunVerify(workload, session, driver.ordered);
    case Kind::kCompact:
      workload.meter.Start();
      database.Compact();
      return {1, workload.meter.StopNs()};
    default:
      return RunWrites(workload, session);
  }
}

uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle, const Values& values) {
  if (IsWriting(benchmark)) return EntriesOf(benchmark, config);
  if (benchmark.kind == Kind::kCompact) return 1;
  const uint64_t entries = oracle.Sum(values).entries;
  if (benchmark.kind == Kind::kVerify) return entries;
  const bool scan = benchmark.access == Access::kForward ||
                    benchmark.access == Access::kBackward;
  return scan ? std::min(config.reads, entries) : config.reads;
}

uint64_t EntryBytes(const Benchmark& benchmark, const Config& config,
                    const Values& values) {
  if (benchmark.kind == Kind::kDelete) return 0;
  return config.key_size + values.value_size();
}

}  // namespace

std::string_view UnsupportedReason(const Driver& driver,
                                   const Benchmark& benchmark) {
  if (NeedsKeyOrder(benchmark) && !driver.ordered) {
    return "keeps no key order";
  }
  return {};
}

Runner::Runner(const Driver& driver, const Config& config, Clock& clock)
    : driver_(driver),
      config_(config),
      clock_(clock),
      progress_(config.progress),
      path_(config.db / (std::string("db_bench_") + driver.name)) {
  if (!config.use_existing_db) {
    MakeFresh();
  } else if (!std::filesystem::is_directory(path_)) {
    throw UsageError("--use_existing_db: no database at " + path_.string());
  }
  for (const PastBenchmark& past : config.after) {
    const Benchmark& benchmark = *past.benchmark;
    if (benchmark.prepare == Prepare::kFresh) {
      oracle_.Reset(EntriesOf(benchmark, config),
                    ValueSizeOf(benchmark, config));
    }
    WriteStream(benchmark, NextStreamSeed(benchmark), oracle_)
        .Replay(past.operations);
  }
}

void Runner::MakeFresh() {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

uint64_t Runner::NextStreamSeed(const Benchmark& benchmark) {
  return StreamSeed(config_.seed, benchmark.name,
                    occurrences_[benchmark.name]++);
}

Measurement Runner::Run(const Benchmark& benchmark) {
  Measurement measurement;
  measurement.benchmark = &benchmark;
  try {
    Attempt(benchmark, measurement);
  } catch (const Unsupported& unsupported) {
    measurement.status = Status::kUnsupported;
    measurement.reason = unsupported.what();
  } catch (const std::exception& error) {
    measurement.status = Status::kError;
    measurement.reason = error.what();
  }
  return measurement;
}

void Runner::RequireRunnable(const Benchmark& benchmark) const {
  const std::string_view reason = UnsupportedReason(driver_, benchmark);
  if (!reason.empty()) throw Unsupported(std::string(reason));
  if (benchmark.prepare == Prepare::kFresh) {
    if (!config_.use_existing_db) return;
    throw std::runtime_error(
        "needs a fresh database, and --use_existing_db forbids it");
  }
  // The audit of a database that must be empty is meaningful.
  if (benchmark.kind == Kind::kVerify && oracle_.key_space() > 0) return;
  if (oracle_.Empty()) {
    throw std::runtime_error(
        "the database is empty: run a fill first, or name with --after what "
        "the database in --db holds");
  }
}

void Runner::Attempt(const Benchmark& benchmark, Measurement& m) {
  RequireRunnable(benchmark);
  if (benchmark.prepare == Prepare::kFresh) {
    MakeFresh();
    oracle_.Reset(EntriesOf(benchmark, config_),
                  ValueSizeOf(benchmark, config_));
  }
  const Values values(config_.seed, oracle_.value_size(),
                      config_.compression_ratio);
  Check check(oracle_, values, config_.key_size);
  if (config_.histogram) m.latency.emplace();
  Meter meter(clock_, progress_, config_.duration_ns,
              m.latency ? &*m.latency : nullptr);
  const Workload workload{benchmark, config_, values, NextStreamSeed(benchmark),
                          oracle_,   check,   meter};
  m.planned_operations = PlannedOperations(benchmark, config_, oracle_, values);

  std::unique_ptr<Database> database;
  std::unique_ptr<Session> session;
  m.open_ns = TimeNs(clock_, [&] {
    database = driver_.open({path_, config_.cache_size, config_.compression,
                             SyncOf(benchmark, config_)});
    session = database->NewSession();
  });
  const Resources before = Resources::Now();
  const LoopResult loop = RunLoop(workload, driver_, *database, *session);
  if (benchmark.kind != Kind::kRead && benchmark.kind != Kind::kVerify) {
    m.flush_ns = TimeNs(clock_, [&] { database->Flush(); });
    if (config_.settle) {
      m.settle_ns = TimeNs(clock_, [&] { database->Settle(); });
    }
  }
  m.settings = database->EffectiveSettings();
  m.close_ns = TimeNs(clock_, [&] {
    session.reset();
    database.reset();
  });
  m.used = Resources::Now().Since(before);
  m.peak_rss_bytes = PeakRssBytes();
  m.disk_bytes = DiskBytes(path_);

  m.operations = loop.operations;
  m.loop_ns = loop.loop_ns;
  m.truncated = meter.expired();
  m.found = loop.found;
  m.bytes = (IsWriting(benchmark) ? loop.operations : loop.found) *
            EntryBytes(benchmark, config_, values);
  m.digest = loop.digest;
  m.verified = driver_.stores;
  if (driver_.stores && check.failures() > 0) {
    m.status = Status::kWrong;
    m.reason = check.Reason();
  }
}

}  // namespace kvmatrix
