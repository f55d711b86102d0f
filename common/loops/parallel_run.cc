#include "common/loops/parallel_run.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "common/loops/leveldb_primitives.h"
#include "common/loops/mix_loop.h"
#include "common/loops/read_loop.h"
#include "common/loops/scan_loop.h"
#include "common/loops/write_loop.h"
#include "common/mixes/graph_mix.h"
#include "common/mixes/mixes.h"
#include "common/oracle/write_stream.h"
#include "common/random/thread_share.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"

namespace kvmatrix {
namespace {

// One thread of a run with everything it owns.  Not movable, because the
// context refers to the other members.
struct Worker {
  Worker(const RunContext& context, Progress& progress, const Meter::Plan& plan,
         const ThreadShare& thread_share, ThreadGroup* group)
      : check(context.oracle, context.values, context.config.key_shape()),
        meter(context.clock, progress, plan),
        context{context, check, meter, thread_share, group} {}

  Check check;
  Meter meter;
  const ThreadContext context;
  LoopResult loop;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

// `scale_ops_per_sec` is used for a rate that is a share.
Meter::Plan MeasuredPlan(const RunContext& context,
                         const ThreadShare& thread_share, StartGate* gate,
                         const std::atomic<double>* scale_ops_per_sec) {
  const Config& config = context.config;
  const bool swings = Swings(context.benchmark, config);
  const double rate =
      swings ? config.mix.mixgraph.sine_d : config.rate_ops_per_sec;
  const double rate_of_thread =
      rate / static_cast<double>(thread_share.threads);
  const bool is_share =
      WarmsUp(context.benchmark, config) && config.rate_share > 0;
  return {.duration_ns = config.duration_ns,
          .latencies = config.histogram,
          .rate_ops_per_sec = is_share ? config.rate_share : rate_of_thread,
          .arrivals = Arrivals(context.stream_seed, thread_share),
          .scale_ops_per_sec = is_share ? scale_ops_per_sec : nullptr,
          .swing = swings ? SwingOf(config) : Swing{},
          .gate = gate};
}

Workers MeasuredWorkers(const RunContext& context, ThreadGroup* group,
                        const std::atomic<double>* scale_ops_per_sec) {
  const uint64_t threads = ThreadsOf(context.benchmark, context.config);
  Workers workers;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    const ThreadShare thread_share{thread, threads};
    workers.push_back(std::make_unique<Worker>(
        context, context.progress,
        MeasuredPlan(context, thread_share, group, scale_ops_per_sec),
        thread_share, group));
  }
  return workers;
}

LoopResult RunLoop(const ThreadContext& w, Database& database,
                   Session& session) {
  switch (w.benchmark.kind) {
    case Kind::kWrite:
    case Kind::kDelete:
      return RunWrites(w, session);
    case Kind::kRead:
      return IsOneCall(w.benchmark) ? RunScan(w, session)
                                    : RunReads(w, session);
    case Kind::kMix:
      return RunMix(w, session);
    case Kind::kVerify:
      return RunVerify(w, session);
    case Kind::kCompact:
      w.meter.Start();
      database.Compact();
      return {.operations = 1, .loop_ns = w.meter.StopNs(0)};
    case Kind::kPrimitive:
      break;
  }
  return RunPrimitive(w);
}

// True if several threads use the oracle's table, which must be made before.
bool SharesTable(const RunContext& context) {
  if (!IsWriting(context.benchmark)) return Changes(context.benchmark);
  return context.config.threads > 1 &&
         !WritesDistinct(
             context.benchmark,
             DrawOf(context.benchmark, context.config, context.replay));
}

// Adds the result of another thread; the loop lasts as long as the slowest.
void Add(const LoopResult& other, LoopResult& loop) {
  loop.operations += other.operations;
  loop.loop_ns = std::max(loop.loop_ns, other.loop_ns);
  loop.found += other.found;
  loop.digest += other.digest;
  loop.bytes += other.bytes;
  loop.claim_wait_ns += other.claim_wait_ns;
  for (const auto& [type, count] : other.by_type) loop.by_type[type] += count;
  for (const auto& [type, ticks] : other.ticks_by_type) {
    loop.ticks_by_type[type].Merge(ticks);
  }
}

// Runs after the threads have ended: summing the oracle takes CPU time that
// must not be counted as the benchmark's.
void CheckScans(const RunContext& context, const Workers& workers) {
  std::optional<Oracle::Contents> all;
  for (const auto& worker : workers) {
    if (!worker->loop.scan_limit) continue;
    if (!all) all = context.oracle.Sum(context.values);
    CheckComplete(worker->context, worker->loop, *all);
  }
}

RunResult Combine(const RunContext& context, const Workers& workers) {
  const Worker& first = *workers.front();
  RunResult result;
  result.loop = first.loop;
  result.used = first.meter.usage().used;
  result.lost = first.meter.usage().lost;
  std::vector<const Meter*> meters;
  Check check = first.check;
  for (const auto& worker : workers) {
    meters.push_back(&worker->meter);
    if (Changes(context.benchmark)) {
      result.operations_by_thread.push_back(worker->loop.operations);
    }
    if (worker == workers.front()) continue;
    Add(worker->loop, result.loop);
    check.Merge(worker->check);
  }
  result.failure = check.Reason();
  result.trace = Meter::Combine(meters);
  if (!result.trace.latency) return result;  // not timed, or saturated
  for (const auto& [type, ticks] : result.loop.ticks_by_type) {
    result.latency_by_type.emplace(type, first.meter.ToHistogram(ticks));
  }
  return result;
}

// The loops before the measured ones: those of the same benchmark, with keys of
// their own, for --warmup.  Each thread runs its own on the session of its
// measured loop, which starts when all threads have arrived there.  Closed
// loops if the measured ones have a share of their rate.
class WarmUp {
 public:
  // Adds to `rate` the rate of each thread, divided by their number, so that it
  // becomes the mean.
  WarmUp(const RunContext& context, ThreadGroup* group,
         std::atomic<double>& rate)
      : rate_ops_per_sec_(rate),
        config_(Endless(context.config)),
        context_{context.driver, context.benchmark,    config_,
                 context.values, *context.warmup_seed, context.oracle,
                 context.clock,  unwatched_,           context.mix} {
    const uint64_t threads = ThreadsOf(context.benchmark, config_);
    for (uint64_t thread = 0; thread < threads; ++thread) {
      const ThreadShare share{thread, threads};
      workers_.push_back(std::make_unique<Worker>(
          context_, unwatched_, MeasuredPlan(context_, share, nullptr, nullptr),
          share, group));
    }
  }

  // Runs the loop of a thread.
  void Run(uint64_t thread, Database& database, Session& session) {
    Worker& worker = *workers_[thread];
    worker.loop = RunLoop(worker.context, database, session);
    rate_ops_per_sec_ += static_cast<double>(worker.loop.operations) * 1e9 /
                         static_cast<double>(worker.loop.loop_ns) /
                         static_cast<double>(workers_.size());
  }

  // Adds what was done, and a wrong answer.
  void AddTo(RunResult& result) const {
    for (const auto& worker : workers_) {
      result.warmup_operations_by_thread.push_back(worker->loop.operations);
      if (result.failure.empty()) result.failure = worker->check.Reason();
    }
  }

 private:
  // The configuration of loops that only their time limit ends.
  static Config Endless(Config config) {
    config.duration_ns = config.warmup_ns;
    config.reads = kMaxKeys;
    config.histogram = false;
    config.rate_share = 0;
    return config;
  }

  std::atomic<double>& rate_ops_per_sec_;
  const Config config_;
  Progress unwatched_{""};
  const RunContext context_;
  Workers workers_;
};

void RunGroup(Database& database, ThreadGroup& group, const Workers& workers,
              Worker* writer, WarmUp* warmup) {
  group.Run([&](uint64_t i) {
    std::unique_ptr<Session> session = database.NewSession();
    if (i < workers.size()) {
      Worker& worker = *workers[i];
      if (warmup) warmup->Run(i, database, *session);
      worker.loop = RunLoop(worker.context, database, *session);
    } else {
      writer->loop = RunWriter(writer->context, *session);
    }
    return session;
  });
}

}  // namespace

uint64_t ThreadsOf(const Benchmark& benchmark, const Config& config) {
  const bool whole = benchmark.kind == Kind::kCompact ||
                     benchmark.kind == Kind::kVerify ||
                     benchmark.kind == Kind::kPrimitive;
  return whole ? 1 : config.threads;
}

uint64_t SessionsOf(const Benchmark& benchmark, const Config& config) {
  return ThreadsOf(benchmark, config) + (benchmark.writer ? 1 : 0);
}

// The products below do not wrap: --reads is a number of keys.
static_assert(kMaxThreads <= UINT64_MAX / kMaxKeys);

uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle, bool stores) {
  switch (benchmark.kind) {
    case Kind::kWrite:
    case Kind::kDelete:
      return WritesOf(benchmark, config);
    case Kind::kMix:
      return ReadsOf(benchmark, config) * config.threads;
    case Kind::kVerify:
      return oracle.Entries();
    case Kind::kCompact:
      return 1;
    case Kind::kPrimitive:
      return benchmark.operations;
    case Kind::kRead:
      break;
  }
  const uint64_t reads = ReadsOf(benchmark, config);
  if (!IsOneCall(benchmark)) return reads * config.threads;
  const uint64_t entries = stores ? oracle.Entries() : config.num;
  return std::min(reads, entries) * config.threads;
}

RunResult RunLoops(const RunContext& context, Database& database,
                   Session* session, ThreadGroup* group,
                   const std::function<void()>& after_loops) {
  std::atomic<double> warmup_ops_per_sec = 0;
  const Workers workers = MeasuredWorkers(context, group, &warmup_ops_per_sec);
  // The writer's operations are not those that --progress counts.
  Progress unwatched("");
  std::optional<Worker> writer;
  if (context.benchmark.writer) {
    const bool timed =
        context.config.histogram || context.config.rate_ops_per_sec > 0;
    const Meter::Plan plan{.latencies = timed, .gate = &group->helper_gate()};
    writer.emplace(context, unwatched, plan, ThreadShare{}, group);
  }
  // Before any thread exists: making the table is not thread-safe.
  if (SharesTable(context)) context.oracle.UseTable();
  if (NeedsKeyOrder(context.benchmark, context.config)) {
    context.oracle.SkipDeleted();
  }
  std::optional<WarmUp> warmup;
  if (context.warmup_seed) {
    warmup.emplace(context, group, warmup_ops_per_sec);
  }
  if (group) {
    RunGroup(database, *group, workers, writer ? &*writer : nullptr,
             warmup ? &*warmup : nullptr);
  } else {
    Worker& worker = *workers.front();
    if (warmup) warmup->Run(0, database, *session);
    worker.loop = RunLoop(worker.context, database, *session);
  }
  after_loops();
  CheckScans(context, workers);
  RunResult result = Combine(context, workers);
  if (warmup) warmup->AddTo(result);
  if (writer) {
    const auto rate = static_cast<double>(context.config.writes_per_second);
    result.writer = {writer->loop, rate, writer->meter.Latency()};
    result.operations_by_thread = {writer->loop.operations};
  }
  if (IsWriting(context.benchmark)) {
    WriteStream::Finish(
        context.benchmark,
        DrawOf(context.benchmark, context.config, context.replay),
        context.stream_seed, result.operations_by_thread, context.oracle);
  }
  return result;
}

void Replay(const AppliedBenchmark& applied, const Config& config,
            uint64_t stream_seed, Oracle& oracle, ReplayedStream* replay) {
  const Benchmark& benchmark = *applied.benchmark;
  const std::vector<uint64_t>& operations = applied.operations;
  if (benchmark.writer) {
    ReplayWriter(stream_seed, operations.front(), oracle);
  } else if (IsMix(benchmark)) {
    const std::unique_ptr<Mix> mix = MakeMix(benchmark, config, oracle);
    for (uint64_t thread = 0; thread < operations.size(); ++thread) {
      mix->Replay(stream_seed, {thread, operations.size()}, operations[thread]);
    }
  } else if (!IsWriting(benchmark)) {
    replay->Skip(operations.front());
  } else {
    WriteStream::Replay(benchmark, DrawOf(benchmark, config, replay),
                        stream_seed, operations, oracle);
  }
}

}  // namespace kvmatrix
