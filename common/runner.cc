#include "common/runner.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "common/mix_workload.h"
#include "common/shares.h"
#include "common/workload.h"
#include "common/write_stream.h"

namespace kvmatrix {
namespace {

// Operations of a mix from which its shares are told.
constexpr uint64_t kSharesOf = 200'000;

// The time that `action` takes.
template <typename Action>
uint64_t TimeNs(Clock& clock, Action action) {
  const uint64_t start_ns = clock.NowNs();
  action();
  return clock.NowNs() - start_ns;
}

// The same; adds what `action` uses to `used`.
template <typename Action>
uint64_t Spend(Clock& clock, Resources& used, Action action) {
  const Resources before = Resources::Now();
  const uint64_t elapsed_ns = TimeNs(clock, action);
  used += Resources::Now().Since(before);
  return elapsed_ns;
}

// Ends this process as kill -9 does.
[[noreturn]] void Die() {
  kill(getpid(), SIGKILL);
  _exit(128 + SIGKILL);  // the first process of a container survives that
}

// True if the benchmark leaves something to flush and to settle.
bool LeavesWork(const Benchmark& benchmark) {
  return Changes(benchmark) || benchmark.kind == Kind::kCompact;
}

LoopResult RunLoop(const Workload& workload, const Driver& driver,
                   Database& database, Session& session) {
  switch (workload.benchmark.kind) {
    case Kind::kRead:
      return RunReads(workload, session);
    case Kind::kVerify:
      return RunVerify(workload, session,
                       driver.ordered && workload.config.key_shape().ordered());
    case Kind::kCompact:
      workload.meter.Start();
      database.Compact();
      return {1, workload.meter.StopNs(0)};
    case Kind::kMix:
      return RunMix(workload, session);
    default:
      return RunWrites(workload, session);
  }
}

uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle) {
  if (IsWriting(benchmark)) return EntriesOf(benchmark, config);
  if (benchmark.kind == Kind::kCompact) return 1;
  if (benchmark.kind == Kind::kMix) return config.reads * config.threads;
  const uint64_t entries = oracle.Entries();
  if (benchmark.kind == Kind::kVerify) return entries;
  const bool scan = benchmark.access == Access::kForward ||
                    benchmark.access == Access::kBackward;
  const uint64_t reads = ReadsOf(benchmark, config);
  return scan ? std::min(reads, entries) : reads;
}

// Of the keys and values that a loop wrote or found.
uint64_t BytesOf(const Workload& w, const LoopResult& loop) {
  if (w.benchmark.kind == Kind::kDelete) return 0;
  const uint64_t entries =
      IsWriting(w.benchmark) ? loop.operations : loop.found;
  const bool same = w.values.sizes().fixed() &&
                    (IsWriting(w.benchmark) || !w.oracle.HasSizes());
  const uint64_t value_bytes =
      same ? entries * w.values.value_size() : loop.value_bytes;
  return entries * w.config.key_size + value_bytes;
}

// Of the keys and values that are there.
uint64_t LiveBytes(const Workload& w) {
  if (w.values.sizes().fixed() && !w.oracle.HasSizes()) {
    return w.oracle.Entries() * (w.config.key_size + w.values.value_size());
  }
  const Oracle::Contents all = w.oracle.Sum(w.values);
  return all.entries * w.config.key_size + all.value_bytes;
}

// What was drawn beside what was to be drawn; a mix adds its own.
void AddShares(const Workload& w, Measurement& m) {
  if (w.replay != nullptr) return;
  if (DrawsKeys(w.benchmark) && m.operations > 0) {
    m.shares = KeyShares(DrawOf(w.benchmark, w.config, nullptr),
                         w.oracle.key_space(), w.stream_seed, m.operations);
  }
  if (w.benchmark.kind == Kind::kCompact) return;
  for (const Share& share : SizeShares(w.values, w.oracle, w.stream_seed)) {
    m.shares.push_back(share);
  }
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
      path_(config.db / (std::string("db_bench_") + driver.name)),
      replay_(MakeReplay(config)) {
  if (!config.use_existing_db) {
    MakeFresh();
  } else if (!std::filesystem::is_directory(path_)) {
    throw UsageError("--use_existing_db: no database at " + path_.string());
  }
  for (const PastBenchmark& past : config.after) {
    const Benchmark& benchmark = *past.benchmark;
    if (replay_) replay_->Begin(benchmark);
    if (benchmark.prepare == Prepare::kFresh) ResetOracle(benchmark);
    const uint64_t stream_seed = NextStreamSeed(benchmark);
    if (benchmark.kind == Kind::kMix) {
      Mix::Make(benchmark, config, oracle_)
          ->Replay(stream_seed, past.operations);
      continue;
    }
    if (!IsWriting(benchmark)) {
      replay_->Skip(past.operations);
      continue;
    }
    WriteStream(benchmark, DrawOf(benchmark, config, replay_.get()),
                stream_seed, oracle_)
        .Replay(past.operations);
  }
}

void Runner::ResetOracle(const Benchmark& benchmark) {
  oracle_.Reset(replay_ ? replay_->key_space() : KeySpaceOf(benchmark, config_),
                ValueSizeOf(benchmark, config_));
}

void Runner::MakeFresh() {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

uint64_t Runner::NextStreamSeed(const Benchmark& benchmark) {
  if (IsYcsbLoad(benchmark)) return YcsbOrderSeed(config_.seed);
  return StreamSeed(config_.seed, benchmark.name,
                    occurrences_[benchmark.name]++);
}

Measurement Runner::Run(const Benchmark& benchmark) {
  return Try(benchmark, {});
}

Measurement Runner::RunAndCrash(const Benchmark& benchmark,
                                const LastAct& last_act) {
  return Try(benchmark, last_act);
}

Measurement Runner::Try(const Benchmark& benchmark, const LastAct& last_act) {
  Measurement measurement;
  measurement.benchmark = &benchmark;
  try {
    Attempt(benchmark, last_act, measurement);
  } catch (const Unsupported& unsupported) {
    measurement.status = Status::kUnsupported;
    measurement.reason = unsupported.what();
  } catch (const std::exception& error) {
    measurement.status = Status::kError;
    measurement.reason = error.what();
    measurement.ending = Ending::kClosed;
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
  if (replay_ && IsWriting(benchmark) && benchmark.kind != Kind::kDelete &&
      ValueSizeOf(benchmark, config_) != oracle_.value_size()) {
    throw std::runtime_error("would mix values of two sizes");
  }
  // The audit of a database that must be empty is meaningful.
  if (benchmark.kind == Kind::kVerify && oracle_.key_space() > 0) return;
  if (oracle_.Empty()) {
    throw std::runtime_error(
        "the database is empty: run a fill first, or name with --after what "
        "the database in --db holds");
  }
}

void Runner::Attempt(const Benchmark& benchmark, const LastAct& last_act,
                     Measurement& m) {
  if (replay_) replay_->Begin(benchmark);
  RequireRunnable(benchmark);
  if (benchmark.prepare == Prepare::kFresh) {
    MakeFresh();
    ResetOracle(benchmark);
  }
  const Values values =
      replay_ ? Values(replay_->pool(), oracle_.value_size())
              : Values(config_.seed, SizesOf(config_, oracle_.value_size()),
                       config_.compression_ratio);
  Check check(oracle_, values, config_.key_shape());
  const uint64_t stream_seed = NextStreamSeed(benchmark);
  Meter meter(clock_, progress_,
              {.duration_ns = config_.duration_ns,
               .latencies = config_.histogram,
               .rate_ops_per_sec = config_.rate_ops_per_sec,
               .arrivals_seed = StreamSeed(stream_seed, "arrivals", 0)});
  std::unique_ptr<Mix> mix;
  if (benchmark.kind == Kind::kMix) {
    mix = Mix::Make(benchmark, config_, oracle_);
  }
  const Workload workload{benchmark, config_, values,    stream_seed,  oracle_,
                          check,     meter,   mix.get(), replay_.get()};
  m.planned_operations = PlannedOperations(benchmark, config_, oracle_);

  std::unique_ptr<Database> database;
  std::unique_ptr<Session> session;
  m.open_ns = TimeNs(clock_, [&] {
    database = driver_.open({path_, config_.cache_size, config_.compression,
                             SyncOf(benchmark, config_)});
    session = database->NewSession();
  });
  m.settings = database->EffectiveSettings();
  const LoopResult loop = RunLoop(workload, driver_, *database, *session);
  m.used = meter.used();
  const ResidentMemory memory = ResidentMemory::Now();
  m.anonymous_rss_bytes = memory.anonymous_bytes;
  m.file_rss_bytes = memory.file_bytes;
  if (LeavesWork(benchmark)) {
    m.flush_ns = Spend(clock_, m.used, [&] { database->Flush(); });
  }
  m.peak_disk_bytes = DiskBytes(path_);
  if (last_act) {
    m.ending = Ending::kKilled;
    Conclude(workload, loop, m);
    last_act(m);
    Die();
  }
  if (LeavesWork(benchmark) && config_.settle) Settle(*database, m);
  m.close_ns = Spend(clock_, m.deferred, [&] {
    session.reset();
    database.reset();
  });
  Conclude(workload, loop, m);
}

void Runner::Settle(Database& database, Measurement& m) {
  m.settle_ns = Spend(clock_, m.deferred, [&] { database.Settle(); });
  m.peak_disk_bytes = std::max(m.peak_disk_bytes, DiskBytes(path_));
  const Resources idle = UsedWhileIdle();
  m.idle_cpu_ns = idle.cpu_ns();
  m.deferred += idle;
}

// What is known once the engine has nothing more to do: kept out of the times
// and of what was used.
void Runner::Conclude(const Workload& workload, const LoopResult& loop,
                      Measurement& m) const {
  const Benchmark& benchmark = workload.benchmark;
  m.peak_rss_bytes = ResidentMemory::Now().peak_bytes;
  m.disk_bytes = DiskBytes(path_);
  m.peak_disk_bytes = std::max(m.peak_disk_bytes, m.disk_bytes);
  m.operations = loop.operations;
  if (Changes(benchmark)) m.operations_by_thread = {loop.operations};
  m.operations_by_type = loop.by_type;
  m.loop_ns = loop.loop_ns;
  m.truncated = workload.meter.expired();
  m.timeline = workload.meter.timeline();
  m.stalls = workload.meter.stalls();
  m.latency = workload.meter.Latency();
  for (const auto& [type, calls] : loop.latency_by_type) {
    if (!m.latency) break;  // of a saturated open loop
    m.latency_by_type.emplace(type, workload.meter.ToHistogram(calls));
  }
  m.service = workload.meter.Service();
  m.open_loop = workload.meter.OpenLoopResult();
  m.found = loop.found;
  m.bytes = BytesOf(workload, loop);
  if (benchmark.kind == Kind::kMix) {
    m.bytes = loop.bytes;
    m.label = MixLabel(benchmark, config_);
    m.shares = workload.mix->Shares(workload.stream_seed,
                                    std::min(loop.operations, kSharesOf));
  }
  m.live_bytes = LiveBytes(workload);
  m.digest =
      IsWriting(benchmark) ? oracle_.Sum(workload.values).digest : loop.digest;
  m.verified = driver_.stores;
  if (driver_.stores && workload.check.failures() > 0) {
    m.status = Status::kWrong;
    m.reason = workload.check.Reason();
  }
  if (m.status == Status::kOk) AddShares(workload, m);
}

}  // namespace kvmatrix
