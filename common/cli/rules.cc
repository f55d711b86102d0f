#include "common/cli/rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/mixes/graph_mix.h"
#include "common/mixes/key_space.h"
#include "common/mixes/mixgraph.h"
#include "common/mixes/ycsb.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/leveldb_stream.h"

namespace kvmatrix {
namespace {

using Problem = std::string;  // what is wrong, and the remedy; "": nothing

struct Rule {
  const char* flag;
  Problem (*problem)(const Config&);
};

struct BenchmarkRule {
  const char* flag;
  bool of_after;  // applies to the benchmarks of --after too
  Problem (*problem)(const Benchmark&, const Config&);
};

std::string Number(uint64_t number) { return std::to_string(number); }

std::string With(StreamKind stream) {
  return " with --stream=" + std::string(StreamName(stream));
}

// Rules about value sizes.

bool IsFixed(const Config& config) {
  return config.value_size_law == SizeLaw::kFixed;
}

bool IsPareto(const Config& config) {
  return config.value_size_law == SizeLaw::kPareto;
}

Problem NoSizes(const Config& config) {
  if (IsFixed(config) || config.value_size > 0) return "";
  return "must be at least 1 with --value_size_distribution_type";
}

Problem NoPareto(const Config& config) {
  const auto& [k, sigma] = config.pareto;
  if (!IsPareto(config) || (k >= 0 && (sigma > 0 || k < 1))) return "";
  return "must not be negative, and must be below 1 unless --value_sigma is "
         "given";
}

Problem CrossedSizes(const Config& config) {
  if (IsFixed(config) || !NoSizes(config).empty()) return "";
  const auto [min, max] = SizeBoundsOf(config);
  if (min <= max) return "";
  return Number(min) + " is above --value_size_max, which is " + Number(max) +
         "; lower it, or raise --value_size_max or --value_size";
}

Problem LargeValues(const Config& config) {
  if (IsFixed(config) || !NoSizes(config).empty()) return "";
  const uint64_t max = SizeBoundsOf(config).max;
  if (max <= ValueSizes::kLargest) return "";
  return "must be at most 2^30, not " + Number(max);
}

// Rules about batches.

Problem ManyTransactions(const Config& config) {
  if (config.transactions <= config.num) return "";
  return Number(config.transactions) + " transactions are more than the " +
         Number(config.num) +
         " entries; choose a larger --num or fewer transactions";
}

Problem LargeTransactions(const Benchmark& benchmark, const Config& config) {
  if (config.transactions == 0 || !IsWriting(benchmark)) return "";
  const uint64_t entries = BatchSizeOf(benchmark, config);
  if (entries <= kMaxBatchEntries) return "";
  return std::string(benchmark.name) + " would have batches of " +
         Number(entries) + " entries; expected at most " +
         Number(kMaxBatchEntries) + "; choose more transactions";
}

// Rules about keys.

Problem FewDigits(const Benchmark& benchmark, const Config& config) {
  const uint64_t keys = std::max(config.num, KeySpaceOf(benchmark, config));
  const uint64_t capacity = config.key_shape().capacity();
  if (keys <= capacity) return "";
  return std::string(benchmark.name) + " needs " + Number(keys) +
         " keys, but there are only " + Number(capacity) + " decimal keys of " +
         Number(config.key_size) +
         " bytes; choose a larger --key_size, a smaller --num or "
         "--key_format=big";
}

Problem UnorderedKeys(const Benchmark& benchmark, const Config& config) {
  if (!NeedsKeyOrder(benchmark, config) || config.key_shape().ordered())
    return "";
  return std::string(benchmark.name) +
         " needs ordered keys, and little-endian keys are not sorted by index; "
         "choose --key_format=big";
}

// Threads write keys of their own; see ThreadShare::OwnOf().
Problem FewKeysForThreads(const Benchmark& benchmark, const Config& config) {
  const bool parts = IsWriting(benchmark) || IsMix(benchmark);
  if (!parts || config.threads <= config.num) return "";
  return "must be at most --num, " + Number(config.num) +
         ", because each thread writes keys of its own";
}

// Rules about benchmarks that are a single call on the engine.

Problem ThreadsOfOneCall(const Benchmark& benchmark, const Config& config) {
  if (config.threads == 1 || benchmark.kind != Kind::kCompact) return "";
  return "compact is a single call on the engine; run it with one thread";
}

Problem RateOfOneCall(const Benchmark& benchmark, const Config& config) {
  if (config.rate_ops_per_sec == 0 || !IsOneCall(benchmark)) return "";
  return std::string(benchmark.name) +
         " is a single call on the engine and cannot be run at a rate";
}

// Rules about rates that are a share.

Problem ShareOfNothing(const Config& config) {
  if (config.rate_share == 0 || config.warmup_ns > 0) return "";
  return "is a share of the rate of the warm-up; add --warmup";
}

Problem SwingingShare(const Config& config) {
  if (config.rate_share == 0 || !config.mix.mixgraph.sine_mix_rate) return "";
  return "cannot be used with --sine_mix_rate; leave one of them out";
}

// Rules about passes.

Problem NoTime(const Config& config) {
  if (config.min_time_ns > 0) return "";
  if (config.passes > 0) return "must be positive if --passes is set";
  if (!config.set_flags.contains("min_time")) return "";
  return "must be positive; leave it out for one pass";
}

// Returns the flag that says how long a loop runs, or how it is paced, next to
// which there are no passes.
Problem TimedOtherwise(const Config& config) {
  if (config.min_time_ns == 0) return "";
  const std::pair<const char*, bool> others[] = {
      {"duration", config.duration_ns > 0},
      {"warmup", config.warmup_ns > 0},
      {"rate", config.rate_ops_per_sec > 0},
      {"device_stat", !config.device_stat.empty()},
  };
  for (const auto& [flag, is_set] : others) {
    if (!is_set) continue;
    return "cannot be used with --" + std::string(flag) +
           "; leave one of them out";
  }
  return "";
}

Problem Unrepeatable(const Benchmark& benchmark, const Config& config) {
  if (config.min_time_ns == 0 || CanRepeat(benchmark)) return "";
  return std::string(benchmark.name) +
         " cannot be repeated in passes, only fills and reads can; leave it or "
         "the flag out";
}

// Rules about YCSB's workloads.

Problem FewRecords(const Benchmark& benchmark, const Config& config) {
  if (!UsesYcsbRecords(benchmark) || config.num >= kMinYcsbRecords) return "";
  return std::string(benchmark.name) + " needs at least " +
         Number(kMinYcsbRecords) + " records";
}

Problem YcsbTheta(const Benchmark& benchmark, const Config& config) {
  if (FindYcsb(benchmark.name) == nullptr ||
      config.zipf_theta == YcsbZipf::kTheta ||
      config.key_distribution == "zipf") {
    return "";
  }
  return std::string(benchmark.name) +
         " uses it only with --key_distribution=zipf; YCSB's own "
         "generators always have 0.99";
}

Problem YcsbKeys(const Benchmark& benchmark, const Config& config) {
  const YcsbWorkload* workload = FindYcsb(benchmark.name);
  if (workload == nullptr || RequestOf(*workload, config.key_distribution)) {
    return "";
  }
  return std::string(benchmark.name) + " accepts " + YcsbRequestNames() +
         "; not '" + config.key_distribution + "'";
}

// Rules about mix.

Problem CrossedScans(const Config& config) {
  const uint64_t min = config.mix.min_scan_length;
  const uint64_t max = config.mix.max_scan_length;
  if (max == 0 || min <= max) return "";
  return Number(min) + " is above --max_scan_length, which is " + Number(max);
}

// Returns the flag that has no effect on scans of one length.
Problem FixedScans(const Config& config) {
  if (config.mix.max_scan_length > 0) return "";
  for (const char* flag : {"min_scan_length", "scan_length_distribution"}) {
    if (!config.set_flags.contains(flag)) continue;
    return "must be positive with --" + std::string(flag) +
           "; otherwise all scans have the length --scan_length";
  }
  return "";
}

Problem TwoLengths(const Config& config) {
  const bool has_fixed = config.set_flags.contains("scan_length");
  if (config.mix.max_scan_length == 0 || !has_fixed) return "";
  return "cannot be used with --max_scan_length; leave one of them out";
}

// Rules about mixgraph.

Problem ColdRanges(const Config& config) {
  const MixgraphParameters& p = config.mix.mixgraph;
  if (!HasKeyRanges(p) || KeyRanges(p).total() > 0) return "";
  return "under --keyrange_dist_a, _b, _c and _d, no key range has a hotness "
         "of "
         "10^-16 or more, or one is 2^62 times as hot as the last one; set all "
         "four to 0 for no ranges";
}

Problem NoTypes(const Config& config) {
  const MixgraphParameters& p = config.mix.mixgraph;
  if (p.mix_get_ratio + p.mix_put_ratio + p.mix_seek_ratio > 0) return "";
  return "at least one of --mix_get_ratio, --mix_put_ratio and "
         "--mix_seek_ratio must be positive";
}

Problem DeepSwing(const Config& config) {
  const MixgraphParameters& p = config.mix.mixgraph;
  if (!p.sine_mix_rate || p.sine_d - std::abs(p.sine_a) >= 1) return "";
  return "the rate must not fall below 1 operation per second; raise --sine_d "
         "to at least 1 above --sine_a";
}

Problem FewKeys(const Benchmark& benchmark, const Config& config) {
  const uint64_t ranges = config.mix.mixgraph.keyrange_num;
  if (!IsMixgraph(benchmark) || config.num >= ranges) return "";
  return std::string(benchmark.name) + " cannot divide " + Number(config.num) +
         " keys into " + Number(ranges) +
         " ranges; choose a larger --num or fewer ranges";
}

Problem ForeignKeys(const Benchmark& benchmark, const Config& config) {
  if (!IsMixgraph(benchmark) || config.key_distribution.empty()) return "";
  return std::string(benchmark.name) +
         " draws its keys by --key_dist_a and --keyrange_dist_a; leave this "
         "flag out";
}

Problem ForeignSizes(const Benchmark& benchmark, const Config& config) {
  if (!IsCorrectedMixgraph(benchmark) || IsPareto(config)) return "";
  return std::string(benchmark.name) +
         " needs values with the sizes of the model, in the database that it "
         "runs on too; use pareto, with --value_sigma=25.45 "
         "--value_size_min=10 --value_size_max=1024";
}

Problem SharedDraws(const Benchmark& benchmark, const Config& config) {
  if (!IsMixgraph(benchmark) || IsCorrectedMixgraph(benchmark) ||
      config.threads == 1) {
    return "";
  }
  return std::string(benchmark.name) +
         " derives the size of a value from the number that selects its key, "
         "so answers can be checked with one thread only; use --threads=1, or "
         "mixgraph-c";
}

// Rules about the programs that --stream replays.

bool IsReplayed(const Config& config) {
  return config.stream != StreamKind::kOwn;
}

Problem ManyReplayedKeys(const Config& config) {
  if (!IsReplayed(config) || config.num <= kMaxReplayedKeys) return "";
  return "must be at most " + Number(kMaxReplayedKeys) + With(config.stream) +
         ", because its keys have 31 bits";
}

Problem LargeReplayedValues(const Config& config) {
  if (!IsReplayed(config) || config.value_size <= kMaxReplayedValue) return "";
  return "must be at most " + Number(kMaxReplayedValue) + With(config.stream) +
         ", because its values are windows of a pool of one mebibyte";
}

Problem EndOfAReplay(const Config& config) {
  if (config.stream != StreamKind::kDbBenchOneSeed || config.duration_ns == 0) {
    return "";
  }
  return "leave it out" + With(config.stream) +
         ": the end of one benchmark determines the keys of the next";
}

// An audit is an addition of this harness and draws nothing from their stream.
Problem NotReplayed(const Benchmark& benchmark, const Config& config) {
  if (!IsReplayed(config) || benchmark.kind == Kind::kVerify) return "";
  const auto names = ReplayedBenchmarks(config.stream);
  if (std::ranges::find(names, benchmark.name) != names.end()) return "";
  std::string problem = "the stream " + std::string(StreamName(config.stream)) +
                        " has no " + std::string(benchmark.name) + "; it has";
  for (const std::string_view name : names) problem += " " + std::string(name);
  return problem;
}

constexpr Rule kRules[] = {
    {"num", ManyReplayedKeys},       {"value_size", LargeReplayedValues},
    {"duration", EndOfAReplay},      {"value_size", NoSizes},
    {"value_k", NoPareto},           {"value_size_min", CrossedSizes},
    {"value_size_max", LargeValues}, {"transactions", ManyTransactions},
    {"keyrange_dist_a", ColdRanges}, {"mix_get_ratio", NoTypes},
    {"sine_d", DeepSwing},           {"rate_share", ShareOfNothing},
    {"rate_share", SwingingShare},   {"min_time", NoTime},
    {"min_time", TimedOtherwise},    {"min_scan_length", CrossedScans},
    {"max_scan_length", FixedScans}, {"scan_length", TwoLengths},
};

// The executable would notice it only when the database is filled.
Problem NotLoaded(const Benchmark& benchmark, const Config& config) {
  if (benchmark.fill != "ycsbload" || config.after.empty()) return "";
  const std::string first(config.after.front().benchmark->name);
  if (first == benchmark.fill) return "";
  return "begins with " + first + ", but must begin with ycsbload";
}

constexpr BenchmarkRule kBenchmarkRules[] = {
    {"after", false, NotLoaded},
    {"stream", true, NotReplayed},
    {"threads", false, ThreadsOfOneCall},
    {"threads", true, FewKeysForThreads},
    {"rate", false, RateOfOneCall},
    {"min_time", false, Unrepeatable},
    {"num", true, FewRecords},
    {"key_size", true, FewDigits},
    {"key_format", false, UnorderedKeys},
    {"transactions", false, LargeTransactions},
    {"zipf_theta", true, YcsbTheta},
    {"key_distribution", true, YcsbKeys},
    {"keyrange_num", true, FewKeys},
    {"key_distribution", true, ForeignKeys},
    {"value_size_distribution_type", true, ForeignSizes},
    {"threads", true, SharedDraws},
};

void Apply(const BenchmarkRule& rule, const Benchmark& benchmark,
           const Config& config) {
  const Problem problem = rule.problem(benchmark, config);
  if (!problem.empty()) throw UsageError(rule.flag, problem);
}

}  // namespace

void CheckBenchmark(const Benchmark& benchmark, const Config& config) {
  for (const BenchmarkRule& rule : kBenchmarkRules) {
    Apply(rule, benchmark, config);
  }
}

void CheckRules(const Config& config) {
  for (const Rule& rule : kRules) {
    const Problem problem = rule.problem(config);
    if (!problem.empty()) throw UsageError(rule.flag, problem);
  }
  for (const BenchmarkRule& rule : kBenchmarkRules) {
    for (const Benchmark* benchmark : config.benchmarks) {
      Apply(rule, *benchmark, config);
    }
    if (!rule.of_after) continue;
    for (const AppliedBenchmark& applied : config.after) {
      Apply(rule, *applied.benchmark, config);
    }
  }
}

}  // namespace kvmatrix
