#include "common/run/passes.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace kvmatrix {
namespace {

uint64_t WorkedNs(const Measurement& m) {
  return m.run.loop.loop_ns + m.flush_ns;
}

void Add(const LoopResult& pass, LoopResult& sum) {
  sum.operations += pass.operations;
  sum.loop_ns += pass.loop_ns;
  sum.found += pass.found;
  sum.bytes += pass.bytes;
  sum.claim_wait_ns += pass.claim_wait_ns;
}

// Appends the course of a loop to that of `sum`, which has ended.
void Add(const RunResult& pass, RunResult& sum) {
  const auto [before, before_ns] =
      std::pair(sum.loop.operations, sum.loop.loop_ns);
  Timeline timeline;
  for (const auto& point : sum.trace.timeline.points()) {
    timeline.Add(point.elapsed_ns, point.operations);
  }
  for (const auto& point : pass.trace.timeline.points()) {
    timeline.Add(before_ns + point.elapsed_ns, before + point.operations);
  }
  for (const auto& stall : pass.trace.stalls.all()) {
    sum.trace.stalls.Add(before_ns + stall.at_ns, stall.lasted_ns);
  }
  Add(pass.loop, sum.loop);
  timeline.Finish(sum.loop.loop_ns, sum.loop.operations);
  sum.trace.timeline = std::move(timeline);
  if (sum.trace.latency) *sum.trace.latency += *pass.trace.latency;
  sum.used += pass.used;
  sum.lost += pass.lost;
  for (size_t i = 0; i < sum.operations_by_thread.size(); ++i) {
    sum.operations_by_thread[i] += pass.operations_by_thread[i];
  }
}

// Adds a pass that has succeeded.
void Add(const Measurement& pass, Measurement& sum) {
  sum.planned_operations += pass.planned_operations;
  Add(pass.run, sum.run);
  sum.open_ns += pass.open_ns;
  sum.flush_ns += pass.flush_ns;
  sum.settle_ns += pass.settle_ns;
  sum.close_ns += pass.close_ns;
  sum.ending = pass.ending;
  for (const auto& [name, count] : pass.counters) sum.counters[name] += count;
  if (sum.device_settle && pass.device_settle) {
    *sum.device_settle += *pass.device_settle;
  }
  sum.deferred += pass.deferred;
  const auto keep_largest = [&](uint64_t Measurement::* figure) {
    sum.*figure = std::max(sum.*figure, pass.*figure);
  };
  keep_largest(&Measurement::idle_cpu_ns);
  keep_largest(&Measurement::idle_ns);
  keep_largest(&Measurement::peak_rss_bytes);
  keep_largest(&Measurement::anonymous_rss_bytes);
  keep_largest(&Measurement::file_rss_bytes);
  keep_largest(&Measurement::peak_disk_bytes);
  sum.disk_bytes = pass.disk_bytes;
  sum.passes.push_back(TimesOf(pass));
}

// Returns the sum of earlier passes and this one; if it has failed, only its
// status and a reason with its number.
Measurement Joined(const Measurement& earlier, Measurement pass) {
  if (earlier.passes.empty()) {
    if (pass.status == Status::kOk) pass.passes = {TimesOf(pass)};
    return pass;
  }
  if (pass.status == Status::kOk && pass.digest != earlier.digest) {
    pass.status = Status::kWrong;
    pass.reason = "other entries than in the first pass";
  }
  if (pass.status != Status::kOk) {
    const size_t number = earlier.passes.size() + 1;
    pass.reason = "pass " + std::to_string(number) + ": " + pass.reason;
    return pass;
  }
  Measurement sum = earlier;
  Add(pass, sum);
  return sum;
}

// Compares all entries that a pass has left; a difference becomes its status.
void Audit(Runner& runner, Measurement& pass) {
  if (pass.status != Status::kOk || !pass.verified) return;
  if (!Changes(*pass.benchmark)) return;
  static const Benchmark kDigests = [] {
    Benchmark verify = *FindBenchmark("verify");
    verify.digests_only = true;
    return verify;
  }();
  const Measurement audit = runner.Run(kDigests);
  if (audit.status == Status::kOk) return;
  pass.status = Status::kWrong;
  pass.reason = "audit: " + audit.reason;
}

}  // namespace

Measurement RunPasses(Runner& runner, const Benchmark& benchmark,
                      const Config& config, const Benchmark* next,
                      const Runner::Reporter& report) {
  if (config.min_time_ns == 0) {
    return report ? runner.RunAndCrash(benchmark, report, 0)
                  : runner.Run(benchmark, next);
  }
  const uint64_t most = config.passes            ? config.passes
                        : runner.driver().stores ? kMostPasses
                                                 : kMostPassesOfNothing;
  const uint64_t least_ns =
      config.passes ? std::numeric_limits<uint64_t>::max() : config.min_time_ns;
  Measurement sum;
  const auto report_sum = [&](const Measurement& last) {
    report(Joined(sum, last));
  };
  for (;;) {
    if (!sum.passes.empty()) runner.Rewind(benchmark);
    const bool last = sum.passes.size() + 1 == most;
    const uint64_t enough_ns = last ? 0 : least_ns;
    const uint64_t left_ns = enough_ns - std::min(enough_ns, WorkedNs(sum));
    Measurement pass = report
                           ? runner.RunAndCrash(benchmark, report_sum, left_ns)
                           : runner.Run(benchmark, next, left_ns);
    const bool ends = !report && WorkedNs(pass) >= left_ns;
    if (!ends) Audit(runner, pass);
    sum = Joined(sum, std::move(pass));
    if (ends || sum.status != Status::kOk) return sum;
  }
}

}  // namespace kvmatrix
