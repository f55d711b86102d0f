#include "common/team.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/graph_mix.h"
#include "common/leveldb_primitives.h"
#include "common/mix_workload.h"
#include "common/part.h"
#include "common/write_stream.h"

namespace kvmatrix {
namespace {

// One measured thread.
struct Member {
  Member(const Job& job, const Part& part, Crew* crew)
      : check(job.oracle, job.values, job.config.key_shape()),
        meter(job.clock, job.progress, PlanOf(job, part, crew)),
        workload{job.benchmark, job.config, job.values, job.stream_seed,
                 job.oracle,    check,      meter,      job.mix,
                 job.replay,    part,       crew} {}

  static Meter::Plan PlanOf(const Job& job, const Part& part, Crew* crew) {
    const bool swings = Swings(job.benchmark, job.config);
    const double rate =
        swings ? job.config.mix.mixgraph.sine_d : job.config.rate_ops_per_sec;
    return {
        .duration_ns = job.config.duration_ns,
        .latencies = job.config.histogram,
        .rate_ops_per_sec = rate / static_cast<double>(part.threads),
        .arrivals_seed = StreamSeed(part.Seed(job.stream_seed), "arrivals", 0),
        .swing = swings ? SwingOf(job.config) : Swing{},
        .crew = crew};
  }

  Check check;
  Meter meter;
  const Workload workload;
  LoopResult loop{};
};

// The writer beside the readers.
struct Writer {
  Writer(const Job& job, Crew* crew)
      : check(job.oracle, job.values, job.config.key_shape()),
        meter(job.clock, progress,
              {.latencies =
                   job.config.histogram || job.config.rate_ops_per_sec > 0,
               .crew = crew,
               .helps = true}),
        workload{job.benchmark, job.config, job.values, job.stream_seed,
                 job.oracle,    check,      meter,      nullptr,
                 nullptr,       {},         crew} {}

  WriterFigures Figures(const Config& config) const {
    return {.operations = loop.operations,
            .loop_ns = loop.loop_ns,
            .bytes = loop.operations * config.key_size + loop.value_bytes,
            .rate_ops_per_sec = static_cast<double>(config.writes_per_second),
            .latency = meter.Latency()};
  }

  Progress progress{""};
  Check check;
  Meter meter;
  const Workload workload;
  LoopResult loop{};
};

LoopResult RunLoop(const Workload& workload, const Driver& driver,
                   Database& database, Session& session) {
  switch (workload.benchmark.kind) {
    case Kind::kRead:
      return RunReads(workload, session);
    case Kind::kVerify:
      return RunVerify(workload, session,
                       driver.ordered && workload.config.key_shape().ordered());
    case Kind::kPrimitive:
      return RunPrimitive(workload, driver);
    case Kind::kCompact:
      workload.meter.Start();
      database.Compact();
      return {1, workload.meter.StopNs(0)};
    case Kind::kMix:
      return IsReadsAndWrites(workload.benchmark)
                 ? RunReadsAndWrites(workload, session)
                 : RunMix(workload, session);
    default:
      return RunWrites(workload, session);
  }
}

// True if keys are claimed before they are written.
bool Claims(const Job& job) {
  if (!IsWriting(job.benchmark)) return Changes(job.benchmark);
  return job.config.threads > 1 &&
         !WritesDistinct(job.benchmark,
                         DrawOf(job.benchmark, job.config, job.replay));
}

// Adds what another thread has done.
void Add(const LoopResult& other, LoopResult& loop) {
  loop.operations += other.operations;
  loop.loop_ns = std::max(loop.loop_ns, other.loop_ns);
  loop.found += other.found;
  loop.digest += other.digest;
  loop.value_bytes += other.value_bytes;
  loop.bytes += other.bytes;
  for (const auto& [type, count] : other.by_type) loop.by_type[type] += count;
  for (const auto& [type, latency] : other.latency_by_type) {
    loop.latency_by_type[type].Merge(latency);
  }
}

using Members = std::vector<std::unique_ptr<Member>>;

// Outside the crew: what the sum takes of the processor is nobody's time.
void CheckScans(const Job& job, const Members& members) {
  std::optional<Oracle::Contents> all;
  for (const auto& member : members) {
    if (!member->loop.scan_limit) continue;
    if (!all) all = job.oracle.Sum(job.values);
    CheckComplete(member->workload, member->loop, *all);
  }
}

TeamResult Together(const Job& job, const Members& members) {
  TeamResult result;
  std::vector<const Meter*> meters;
  Check& check = members.front()->check;
  for (const auto& member : members) {
    Add(member->loop, result.loop);
    meters.push_back(&member->meter);
    if (Changes(job.benchmark)) {
      result.operations_by_thread.push_back(member->loop.operations);
    }
    if (member != members.front()) check.Merge(member->check);
  }
  result.loop.label = members.front()->loop.label;
  result.course = Meter::Together(meters);
  result.used = meters.front()->used();
  for (const auto& [type, calls] : result.loop.latency_by_type) {
    if (!result.course.latency) break;  // of a saturated open loop
    const Histogram latency = meters.front()->ToHistogram(calls);
    result.latency_by_type.emplace(type, latency);
  }
  result.failure = check.Reason();
  return result;
}

void RunCrew(const Job& job, Database& database, Crew& crew,
             const Members& members, Writer* writer) {
  crew.Run([&](uint64_t i) {
    std::unique_ptr<Session> session = database.NewSession();
    if (i < members.size()) {
      Member& member = *members[i];
      member.loop = RunLoop(member.workload, job.driver, database, *session);
    } else {
      writer->loop = RunWriter(writer->workload, *session, job.clock);
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

uint64_t PlannedOperations(const Benchmark& benchmark, const Config& config,
                           const Oracle& oracle, bool stores) {
  if (IsWriting(benchmark)) return EntriesOf(benchmark, config);
  if (benchmark.kind == Kind::kCompact) return 1;
  if (benchmark.kind == Kind::kPrimitive) return benchmark.operations;
  if (benchmark.kind == Kind::kMix) return config.reads * config.threads;
  if (benchmark.kind == Kind::kVerify) return oracle.Entries();
  const bool scan = benchmark.access == Access::kForward ||
                    benchmark.access == Access::kBackward;
  const uint64_t reads = ReadsOf(benchmark, config);
  const uint64_t entries = stores ? oracle.Entries() : config.num;
  return (scan ? std::min(reads, entries) : reads) * config.threads;
}

TeamResult RunTeam(const Job& job, Database& database, Session* session) {
  const bool alone = IsAlone(job.benchmark, job.config);
  const uint64_t threads = ThreadsOf(job.benchmark, job.config);
  auto crew =
      std::make_unique<Crew>(job.clock, threads, job.benchmark.writer ? 1 : 0);
  Members members;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    members.push_back(std::make_unique<Member>(job, Part{thread, threads},
                                               alone ? nullptr : crew.get()));
  }
  std::optional<Writer> writer;
  if (job.benchmark.writer) writer.emplace(job, crew.get());
  if (Claims(job)) job.oracle.UseTable();
  job.progress.Reset();
  if (alone) {
    Member& member = *members.front();
    member.loop = RunLoop(member.workload, job.driver, database, *session);
  } else {
    RunCrew(job, database, *crew, members, writer ? &*writer : nullptr);
  }
  CheckScans(job, members);
  TeamResult result = Together(job, members);
  if (writer) {
    result.writer = writer->Figures(job.config);
    result.operations_by_thread = {writer->loop.operations};
  }
  if (IsWriting(job.benchmark)) {
    WriteStream::Finish(
        job.benchmark, DrawOf(job.benchmark, job.config, job.replay),
        job.stream_seed, result.operations_by_thread, job.oracle);
  }
  if (!alone) result.crew = std::move(crew);
  return result;
}

void Replay(const PastBenchmark& past, const Config& config,
            uint64_t stream_seed, Oracle& oracle, ReplayedStream* replay) {
  const Benchmark& benchmark = *past.benchmark;
  const std::vector<uint64_t>& operations = past.operations;
  if (benchmark.writer) {
    ReplayWriter(stream_seed, operations.front(), oracle);
  } else if (IsReadsAndWrites(benchmark)) {
    ReplayReadsAndWrites(benchmark, config, stream_seed, operations, oracle);
  } else if (benchmark.kind == Kind::kMix) {
    const std::unique_ptr<Mix> mix = Mix::Make(benchmark, config, oracle);
    for (uint64_t thread = 0; thread < operations.size(); ++thread) {
      const Part part{thread, operations.size()};
      mix->Replay(part.Seed(stream_seed), operations[thread]);
    }
  } else if (!IsWriting(benchmark)) {
    replay->Skip(operations.front());
  } else {
    WriteStream::Replay(benchmark, DrawOf(benchmark, config, replay),
                        stream_seed, operations, oracle);
  }
}

}  // namespace kvmatrix
