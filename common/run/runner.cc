#include "common/run/runner.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "common/loops/leveldb_primitives.h"
#include "common/mixes/key_space.h"
#include "common/mixes/mixes.h"
#include "common/mixes/ycsb.h"
#include "common/run/distribution_check.h"
#include "common/run/flush_and_kill.h"
#include "common/run/limits.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"

namespace kvmatrix {
namespace {

// Operations of a mix from which its shares are computed.
constexpr uint64_t kMaxShareOperations = 200'000;

// Returns the duration of `action`.
template <typename Action>
uint64_t TimeNs(Clock& clock, Action action) {
  const uint64_t start_ns = clock.NowNs();
  action();
  return clock.NowNs() - start_ns;
}

// True if there may be something to flush and to settle.
bool LeavesDeferredWork(const Benchmark& benchmark) {
  return Changes(benchmark) || benchmark.kind == Kind::kCompact;
}

// True if what several threads have read or written depends on their
// interleaving.
bool IsNondeterministic(const Measurement& m, const Config& config) {
  const bool mixes = IsMix(*m.benchmark) || m.run.trace.truncated;
  return m.benchmark->writer || (config.threads > 1 && mixes);
}

// Returns the bytes of all keys and values that must be present.
uint64_t LiveBytes(const RunContext& w) {
  if (w.values.sizes().fixed() && !w.oracle.HasSizes()) {
    return w.oracle.Entries() * (w.config.key_size + w.values.value_size());
  }
  const Oracle::Contents all = w.oracle.Sum(w.values);
  return all.entries * w.config.key_size + all.value_bytes;
}

}  // namespace

std::string_view UnsupportedReason(const Driver& driver,
                                   const Benchmark& benchmark,
                                   const Config& config) {
  if (NeedsKeyOrder(benchmark, config) &&
      driver.scans == ScanSupport::kUnordered) {
    return "keeps no key order";
  }
  if (ScansBackward(benchmark, config) &&
      driver.scans != ScanSupport::kBothWays) {
    return "scans forward only";
  }
  if (benchmark.kind == Kind::kPrimitive && !HasPrimitives()) {
    return "the executable is built without the library that it times";
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
  WatchDevice(config.device_stat);
  if (!config.use_existing_db) {
    MakeFresh();
  } else if (!std::filesystem::is_directory(path_)) {
    throw UsageError("use_existing_db", "no database at " + path_.string());
  }
  for (const AppliedBenchmark& applied : config.after) {
    const Benchmark& benchmark = *applied.benchmark;
    if (replay_) replay_->Begin(benchmark);
    if (IsFresh(benchmark)) ResetOracle(benchmark);
    Replay(applied, config, NextStreamSeed(benchmark), oracle_, replay_.get());
  }
}

void Runner::ResetOracle(const Benchmark& benchmark) {
  oracle_.Reset(replay_ ? replay_->key_space() : KeySpaceOf(benchmark, config_),
                ValueSizeOf(benchmark, config_));
}

void Runner::MakeFresh() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  // Not its parents: a caller that has removed them expects nothing there.
  for (const auto& folder : {path_.parent_path(), path_}) {
    if (!error) std::filesystem::create_directory(folder, error);
  }
  if (!error) return;
  throw UsageError("db", "cannot create the directory " + path_.string() +
                             ": " + error.message());
}

uint64_t Runner::NextStreamSeed(const Benchmark& benchmark) {
  if (IsYcsbLoad(benchmark)) return YcsbOrderSeed(config_.seed);
  return StreamSeed(config_.seed, benchmark.name,
                    occurrences_[benchmark.name]++);
}

Measurement Runner::Run(const Benchmark& benchmark, const Benchmark* next,
                        uint64_t least_ns) {
  return Try(benchmark, next, {{}, least_ns});
}

Measurement Runner::RunAndCrash(const Benchmark& benchmark,
                                const Reporter& report, uint64_t least_ns) {
  return Try(benchmark, nullptr, {report, least_ns});
}

Measurement Runner::Try(const Benchmark& benchmark, const Benchmark* next,
                        const End& end) {
  Measurement measurement;
  measurement.benchmark = &benchmark;
  // Before the database is opened: 0 says that no operation has completed.
  progress_.Reset();
  try {
    Attempt(benchmark, next, end, measurement);
  } catch (const Unsupported& unsupported) {
    if (!StaysOpenFor(next)) handle_.Discard();
    measurement.status = Status::kUnsupported;
    measurement.reason = unsupported.what();
  } catch (const std::exception& error) {
    Fail(error.what(), measurement);
  } catch (...) {
    Fail("the engine threw what is no std::exception", measurement);
  }
  return measurement;
}

void Runner::Fail(const char* reason, Measurement& m) {
  handle_.Discard();
  m.status = Status::kError;
  m.reason = reason;
  m.ending = Ending::kClosed;
}

void Runner::RequireRunnable(const Benchmark& benchmark) const {
  const std::string_view reason =
      UnsupportedReason(driver_, benchmark, config_);
  if (!reason.empty()) throw Unsupported(std::string(reason));
  if (benchmark.kind == Kind::kPrimitive) return;
  if (benchmark.prepare == Prepare::kFresh) {
    if (!config_.use_existing_db) return;
    throw std::runtime_error(
        "needs a fresh database, which --use_existing_db forbids");
  }
  if (replay_ && IsWriting(benchmark) && benchmark.kind != Kind::kDelete &&
      ValueSizeOf(benchmark, config_) != oracle_.value_size()) {
    throw std::runtime_error("would mix values of two sizes in one database");
  }
  if (unfinished_ != nullptr) {
    throw std::runtime_error(
        "the contents of the database are unknown, because " +
        std::string(unfinished_->name) +
        " did not complete; run a fill first, or leave it out");
  }
  // The audit of a database that must be empty is meaningful.
  if (benchmark.kind == Kind::kVerify && oracle_.key_space() > 0) return;
  if (oracle_.Empty()) {
    throw std::runtime_error(
        "the database is empty; run a fill first, or use --use_existing_db "
        "with --after=LIST, which lists the benchmarks already run on it");
  }
}

Options Runner::OptionsOf(const Benchmark& benchmark) const {
  return {.path = path_,
          .cache_size = config_.cache_size,
          .compression = config_.compression,
          .durability = DurabilityOf(benchmark, config_),
          .threads = SessionsOf(benchmark, config_),
          .expected_entries = config_.num,
          .key_size = config_.key_size,
          .value_size = config_.value_size};
}

bool Runner::StaysOpenFor(const Benchmark* next) const {
  return replay_ && handle_.database && next && !IsFresh(*next) &&
         OptionsOf(*next) == handle_.options;
}

// Opens the database for the benchmark, unless it is open.
void Runner::Open(const Benchmark& benchmark, Measurement& m) {
  if (handle_.database) return;
  m.open_ns = TimeNs(clock_, [&] {
    handle_.options = OptionsOf(benchmark);
    handle_.database = driver_.open(handle_.options);
    if (IsAlone(benchmark, config_)) {
      handle_.session = handle_.database->NewSession();
    }
  });
}

void Runner::Attempt(const Benchmark& benchmark, const Benchmark* next,
                     const End& end, Measurement& m) {
  if (replay_) replay_->Begin(benchmark);
  RequireRunnable(benchmark);
  if (IsFresh(benchmark)) {
    MakeFresh();
    ResetOracle(benchmark);
    unfinished_ = nullptr;
  }
  const Values values =
      replay_ ? Values(replay_->pool(), oracle_.value_size())
              : Values(config_.seed, SizesOf(config_, oracle_.value_size()),
                       config_.compression_ratio);
  std::unique_ptr<Mix> mix;
  if (IsMix(benchmark)) mix = MakeMix(benchmark, config_, oracle_);
  std::optional<uint64_t> warmup_seed;
  if (WarmsUp(benchmark, config_)) warmup_seed = NextStreamSeed(benchmark);
  const RunContext context{
      driver_,    benchmark, config_,   values,    NextStreamSeed(benchmark),
      oracle_,    clock_,    progress_, mix.get(), replay_.get(),
      warmup_seed};
  m.threads = ThreadsOf(benchmark, config_);
  m.planned_operations =
      PlannedOperations(benchmark, config_, oracle_, driver_.stores);

  Open(benchmark, m);
  if (!IsAlone(benchmark, config_)) {
    handle_.group = std::make_unique<ThreadGroup>(
        clock_, ThreadsOf(benchmark, config_), benchmark.writer ? 1 : 0);
  }
  Database& database = *handle_.database;
  m.settings = database.EffectiveSettings();
  RequireWithin(database.GetLimits(), benchmark, config_, values);
  if (Changes(benchmark)) unfinished_ = &benchmark;
  RunPhases(context, end, m);
  if (m.ending == Ending::kKilled) {
    // From here on this is a process without the engine's threads.
    Conclude(context, m);
    end.report(m);
    _exit(0);
  }
  if (config_.use_existing_db && !replay_ && driver_.stores &&
      benchmark.kind != Kind::kVerify) {
    RequireNoMore(*database.NewSession(), oracle_, values, config_);
  }
  if (StaysOpenFor(next)) {
    m.ending = Ending::kOpen;
    handle_.group.reset();
  } else {
    const Resources before = Resources::Now();
    m.close_ns = TimeNs(clock_, [&] { handle_.Close(); });
    m.deferred += Resources::Now().Since(before);
  }
  unfinished_ = nullptr;
  Conclude(context, m);
}

// Whatever the harness does between the end of the loop and the end of
// settling, an engine can use for its deferred work.  Little is done there, and
// its time is counted as settling.
void Runner::RunPhases(const RunContext& context, const End& end,
                       Measurement& m) {
  Database& database = *handle_.database;
  const bool defers = LeavesDeferredWork(*m.benchmark);
  const auto counted_before = database.Counters();
  std::optional<Usage> flush;
  const uint64_t least_end_ns = clock_.NowNs() + end.least_ns;
  const auto after_loops = [&] {
    const uint64_t loop_end_ns = clock_.NowNs();
    const ResidentMemory memory = ResidentMemory::Now(path_);
    m.anonymous_rss_bytes = memory.anonymous_bytes;
    m.file_rss_bytes = memory.file_bytes;
    if (end.report && loop_end_ns >= least_end_ns) {
      m.ending = Ending::kKilled;
      m.peak_rss_bytes = memory.peak_bytes;
      m.counters = database.Counters();
      FlushLast(database, m);
      return;
    }
    if (defers) flush = Flush(database, m);
    const DeviceCounters flushed = DeviceCounters::Now();
    m.peak_disk_bytes = DiskBytes(path_);
    m.counters = database.Counters();
    if (!defers || !config_.settle) return;
    Settle(database, loop_end_ns, loop_end_ns + m.flush_ns >= least_end_ns, m);
    if (config_.device_stat.empty()) return;
    WriteBack(path_);
    m.device_settle = DeviceCounters::Now().Since(flushed);
  };
  m.run = RunLoops(context, database, handle_.session.get(),
                   handle_.group.get(), after_loops);
  if (flush && !m.benchmark->writer) {
    m.run.used += flush->used;
    m.run.lost += flush->lost;
  }
  for (const auto& [name, count] : counted_before) m.counters[name] -= count;
}

// The flush is part of the measured time of a writing benchmark.  Next to
// readers it is not: what the writer leaves to flush is deferred work, since
// only the readers' operations are counted.
Usage Runner::Flush(Database& database, Measurement& m) {
  const Usage start = Usage::Start();
  const uint64_t elapsed_ns = TimeNs(clock_, [&] { database.Flush(); });
  const Usage usage = Usage::Since(start);
  if (m.benchmark->writer) {
    m.settle_ns = elapsed_ns;
    m.deferred = usage.used;
  } else {
    m.flush_ns = elapsed_ns;
  }
  return usage;
}

// What a writer's flush takes is deferred work, and a killed process has none.
void Runner::FlushLast(Database& database, Measurement& m) {
  const bool defers = LeavesDeferredWork(*m.benchmark);
  const uint64_t flush_ns = FlushAndKill(clock_, [&] {
    if (defers) database.Flush();
  });
  handle_.Abandon();
  if (defers && !m.benchmark->writer) m.flush_ns = flush_ns;
}

void Runner::Settle(Database& database, uint64_t loop_end_ns, bool is_watched,
                    Measurement& m) {
  const Resources before = Resources::Now();
  database.Settle();
  m.settle_ns = clock_.NowNs() - loop_end_ns - m.flush_ns;
  m.deferred += Resources::Now().Since(before);
  if (is_watched) {
    m.idle_ns = config_.watch_idle ? kLongIdleNs : kIdleNs;
    const IdleUse idle = UsedWhileIdle(clock_, m.idle_ns);
    m.idle_cpu_ns = idle.most_cpu_ns;
    m.deferred += idle.used;
  }
  m.peak_disk_bytes = std::max(m.peak_disk_bytes, DiskBytes(path_));
}

// Computes everything that is known once the engine has nothing left to do,
// outside of all times and resources.
void Runner::Conclude(const RunContext& context, Measurement& m) const {
  const Benchmark& benchmark = context.benchmark;
  const LoopResult& loop = m.run.loop;
  if (EndsByTime(benchmark, config_)) m.planned_operations = loop.operations;
  m.peak_rss_bytes =
      std::max(m.peak_rss_bytes, ResidentMemory::Now(path_).peak_bytes);
  m.disk_bytes = DiskBytes(path_);
  m.peak_disk_bytes = std::max(m.peak_disk_bytes, m.disk_bytes);
  if (replay_) m.found_of = replay_->FoundOf(benchmark);
  if (context.mix) {
    m.shares = context.mix->Shares(
        ThreadShare{0, config_.threads}.SeedOf(context.stream_seed),
        std::min(loop.operations, kMaxShareOperations));
  }
  m.live_bytes = LiveBytes(context);
  if (!IsNondeterministic(m, config_)) {
    m.digest =
        IsWriting(benchmark) ? oracle_.Sum(context.values).digest : loop.digest;
  }
  // Values of no bytes are all alike.
  m.verified = driver_.stores &&
               (benchmark.kind == Kind::kPrimitive || oracle_.value_size() > 0);
  if (driver_.stores && !m.run.failure.empty()) {
    m.status = Status::kWrong;
    m.reason = m.run.failure;
  }
  if (m.status == Status::kOk && m.run.trace.open_loop &&
      loop.operations == 0) {
    m.status = Status::kError;
    m.reason = "no operation was due within --duration; raise it or --rate";
  }
  if (m.status != Status::kOk) return;
  std::ranges::move(SharesOf(context, loop.operations),
                    std::back_inserter(m.shares));
}

}  // namespace kvmatrix
