#include "common/cli/json_output.h"

#include <gflags/gflags.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/cli/executable.h"
#include "common/cli/flags.h"
#include "common/cli/provenance.h"
#include "common/mixes/mixes.h"
#include "common/run/runner.h"
#include "common/spec/durability.h"
#include "common/spec/quantities.h"

namespace kvmatrix {
namespace {

using Json = nlohmann::ordered_json;

Json BuildJson(const Driver& driver) {
  return {{"origin", GetBuildFacts().origin},
          {"origin_sha256", GetBuildFacts().origin_sha256},
          {"compiler", GetBuildFacts().compiler},
          {"flags", GetBuildFacts().flags},
          {"engine_flags", GetBuildFacts().engine_flags},
          {"assertions", HasLiveAssertions(driver.code) ? "live" : "none"},
          {"allocator", AllocatorInForce()}};
}

Json ValueJson(const FlagValue& value) {
  return std::visit([](const auto& plain) { return Json(plain); }, value);
}

Json OptionsJson(const Benchmark& benchmark, const Config& config) {
  Json json = Json::object();
  for (const Flag& flag : AllFlags()) {
    if (!IsOption(flag, config)) continue;
    json[flag.option] = ValueJson(OptionOf(flag, config, benchmark));
  }
  return json;
}

Json LatencyJson(const std::optional<Histogram>& latency) {
  if (!latency || latency->count() == 0) return nullptr;
  Json buckets = Json::array();
  for (const Histogram::Bucket& bucket : latency->buckets()) {
    buckets.push_back({bucket.lower_ns, bucket.count});
  }
  return {{"count", latency->count()},
          {"min", latency->min_ns()},
          {"max", latency->max_ns()},
          {"sum", latency->sum_ns()},
          {"buckets", buckets}};
}

Json OpenLoopJson(const std::optional<OpenLoopFigures>& figures) {
  if (!figures) return nullptr;
  const double max = figures->max_ops_per_sec;
  return {{"rate_ops_per_sec", figures->rate_ops_per_sec},
          {"max_ops_per_sec", max > 0 ? Json(max) : Json(nullptr)},
          {"offered_ops_per_sec", figures->offered_ops_per_sec},
          {"achieved_ops_per_sec", figures->achieved_ops_per_sec},
          {"late_starts", figures->late_starts},
          {"max_lag_ns", figures->max_lag_ns},
          {"saturated", figures->saturated()}};
}

Json TimelineJson(const Timeline& timeline) {
  Json json = Json::array();
  for (const auto& [elapsed_ns, operations] : timeline.points()) {
    json.push_back({elapsed_ns, operations});
  }
  return json;
}

Json StallsJson(const Stalls& stalls) {
  Json json = Json::array();
  for (const Stalls::Stall& stall : stalls.first()) {
    json.push_back({{"at_ns", stall.at_ns}, {"lasted_ns", stall.lasted_ns}});
  }
  return json;
}

std::string Hex(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(number));
  return text;
}

// Returns null for a benchmark that failed: it has no results.
Json FigureJson(const Measurement& m, uint64_t figure) {
  return m.status == Status::kOk ? Json(figure) : Json(nullptr);
}

Json LostJson(const Measurement& m) {
  if (m.status != Status::kOk) return nullptr;
  const auto counter = [](const std::optional<uint64_t>& known) {
    return known ? Json(*known) : Json(nullptr);
  };
  const Losses& lost = m.run.lost;
  return {{"threads", m.threads},
          {"processors", lost.processors},
          {"run_queue_ns", counter(lost.run_queue_ns)},
          {"time_slices", counter(lost.time_slices)},
          {"stolen_ns", counter(lost.stolen_ns)},
          {"throttled_ns", counter(lost.throttled_ns)},
          {"processors_user_ns", counter(lost.processors_user_ns)}};
}

// Returns those members of an object that a list names.
Json MembersJson(const auto& names, const auto& object) {
  Json json;
  for (const auto& [name, member] : names) json[name] = object.*member;
  return json;
}

void AddTimes(const Measurement& m, Json& json) {
  const Pass all = TimesOf(m);
  for (const auto& [name, ns] : kPassTimes) json[name] = FigureJson(m, all.*ns);
  json["cpu_user_ns"] = FigureJson(m, m.run.used.cpu_user_ns);
  json["cpu_system_ns"] = FigureJson(m, m.run.used.cpu_system_ns);
  json["idle_cpu_ns"] = FigureJson(m, m.idle_cpu_ns);
  if (m.idle_ns > kIdleNs) json["idle_ns"] = FigureJson(m, m.idle_ns);
  json["lost"] = LostJson(m);
  if (const auto& r = m.rehearsal) {
    json["jit_warmup"] = {{"elapsed_ns", r->elapsed_ns}, {"steady", r->steady}};
  }
  for (const Pass& pass : m.passes) {
    json["passes"].push_back(MembersJson(kPassTimes, pass));
  }
}

void AddCounts(const Measurement& m, Json& json) {
  const bool ok = m.status == Status::kOk;
  json["verified"] = ok && m.verified;
  json["planned_ops"] = m.planned_operations;
  json["ops"] = ok ? m.run.loop.operations : 0;
  json["found"] = ok ? m.run.loop.found : 0;
  json["bytes"] = ok ? m.run.loop.bytes : 0;
  json["live_bytes"] = FigureJson(m, m.live_bytes);
  json["truncated"] = m.run.trace.truncated;
  json["digest"] = ok && !m.digest ? Json() : Json(Hex(m.digest.value_or(0)));
}

Json DeferredJson(const Measurement& m, const Driver& driver) {
  if (m.status != Status::kOk) return nullptr;
  Json json = {{"cpu_ns", m.deferred.cpu_ns()},
               {"read_bytes", m.deferred.read_bytes},
               {"written_bytes", m.deferred.written_bytes},
               {"storage_written_bytes", m.deferred.storage_written_bytes}};
  if (!driver.hides_barriers) json["barriers"] = m.deferred.barriers;
  return json;
}

Json DeviceJson(const Measurement& m) {
  if (m.status != Status::kOk) return nullptr;
  const auto& settle = m.device_settle;
  return {{"loop", MembersJson(kDeviceCounters, m.run.used.device)},
          {"settle", settle ? MembersJson(kDeviceCounters, *settle) : Json()}};
}

void AddResources(const Measurement& m, const Driver& driver, Json& json) {
  const auto figure = [&](uint64_t n) { return FigureJson(m, n); };
  const Resources& used = m.run.used;
  json["peak_rss_bytes"] = m.peak_rss_bytes;
  json["anonymous_rss_bytes"] = figure(m.anonymous_rss_bytes);
  json["file_rss_bytes"] = figure(m.file_rss_bytes);
  json["minor_faults"] = used.minor_faults;
  json["major_faults"] = used.major_faults;
  json["voluntary_switches"] = used.voluntary_switches;
  json["involuntary_switches"] = used.involuntary_switches;
  json["read_bytes"] = used.read_bytes;
  json["written_bytes"] = used.written_bytes;
  json["storage_read_bytes"] = figure(used.storage_read_bytes);
  json["storage_written_bytes"] = figure(used.storage_written_bytes);
  if (!driver.hides_barriers) json["barriers"] = figure(used.barriers);
  json["disk_bytes"] = m.disk_bytes;
  json["peak_disk_bytes"] = figure(m.peak_disk_bytes);
  json["deferred"] = DeferredJson(m, driver);
}

// Adds what is known of each call and of the course of the loop.
void AddTrace(const Measurement& m, Json& json) {
  const bool ok = m.status == Status::kOk;
  const LoopTrace& trace = m.run.trace;
  json["first_call_ns"] = FigureJson(m, trace.first_call_ns);
  json["timeline"] = ok ? TimelineJson(trace.timeline) : nullptr;
  json["stalls"] = ok ? StallsJson(trace.stalls) : nullptr;
  json["stall_count"] = FigureJson(m, trace.stalls.count());
  json["stalled_ns"] = FigureJson(m, trace.stalls.total_ns());
  json["latency_ns"] = ok ? LatencyJson(trace.latency) : nullptr;
  json["service_ns"] = ok ? LatencyJson(trace.service) : nullptr;
  json["open_loop"] = ok ? OpenLoopJson(trace.open_loop) : nullptr;
}

Json LatencyByTypeJson(const Measurement& m) {
  Json json;  // null if there are none
  for (const auto& [type, latency] : m.run.latency_by_type) {
    json[type] = LatencyJson(latency);
  }
  return json;
}

Json WriterJson(const std::optional<WriterResult>& writer) {
  if (!writer) return nullptr;
  const double rate = writer->rate_ops_per_sec;
  return {{"ops", writer->loop.operations},
          {"loop_ns", writer->loop.loop_ns},
          {"bytes", writer->loop.bytes},
          {"rate_ops_per_sec", rate > 0 ? Json(rate) : Json(nullptr)},
          {"latency_ns", LatencyJson(writer->latency)}};
}

Json SharesJson(const std::vector<Share>& shares) {
  Json json;  // null if there are none
  for (const Share& share : shares) {
    Json& entry = json.emplace_back(Json{{"what", share.what},
                                         {"share", share.observed},
                                         {"theory", share.expected}});
    if (share.draws > 0) entry["draws"] = share.draws;
  }
  return json;
}

// Adds what each thread and each type of operation did.
void AddParts(const Measurement& m, Json& json) {
  const bool ok = m.status == Status::kOk;
  const auto some = [ok](const auto& parts) {
    return ok && !parts.empty() ? Json(parts) : Json(nullptr);
  };
  json["ops_by_thread"] = some(m.run.operations_by_thread);
  json["warmup_ops_by_thread"] = some(m.run.warmup_operations_by_thread);
  json["ops_by_type"] = some(m.run.loop.by_type);
  json["latency_by_type_ns"] = ok ? LatencyByTypeJson(m) : nullptr;
  json["writer"] = ok ? WriterJson(m.run.writer) : nullptr;
  json["claim_wait_ns"] = FigureJson(m, m.run.loop.claim_wait_ns);
  json["counters"] = m.counters;
  json["shares"] = ok ? SharesJson(m.shares) : nullptr;
}

Json DriverFlagsJson() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  Json json = Json::array();
  for (const auto& flag : flags) {
    if (!IsDriverFlag(flag.filename)) continue;
    json.push_back({{"name", flag.name},
                    {"type", flag.type},
                    {"default", flag.default_value},
                    {"help", flag.description}});
  }
  return json;
}

Json FlagJson(const Flag& flag) {
  Json json = {{"name", flag.name},
               {"type", TypeName(flag)},
               {"default", ValueJson(DefaultOf(flag))},
               {"unit", flag.unit},
               {"group", kGroupTitles[static_cast<size_t>(flag.group)]},
               {"in_scenarios", InScenarios(flag)},
               {"help", flag.help}};
  if (flag.choices != nullptr) json["choices"] = flag.choices();
  if (flag.range.max < FlagRange().max) {
    const double least = flag.range.scenario_min;
    json["least"] = std::isnan(least) ? flag.range.min : least;
    json["most"] = flag.range.max;
    if (!std::isnan(flag.range.also)) json["also"] = flag.range.also;
  }
  if (flag.option != nullptr) {
    json["option"] = flag.option;
    json["option_if_set"] = flag.option_if_set;
    json["by_benchmark"] = flag.by_benchmark;
  }
  return json;
}

Json CommonFlagsJson() {
  Json json;
  for (const Flag& flag : AllFlags()) json.push_back(FlagJson(flag));
  return json;
}

// Returns null for a share that flags determine.
Json TypesJson(const Benchmark& benchmark) {
  Json json = Json::object();
  for (const auto& [type, share] : TypesOf(benchmark)) {
    json[OperationName(type)] = share ? Json(*share) : Json(nullptr);
  }
  return json;
}

Json BenchmarksJson(const Driver& driver) {
  Json json = Json::array();
  for (const Benchmark& benchmark : AllBenchmarks()) {
    json.push_back(
        {{"name", benchmark.name},
         {"kind", KindName(benchmark.kind)},
         {"prepare", PrepareName(benchmark.prepare)},
         {"ops_divisor", benchmark.num_divisor},
         {"operations", benchmark.operations},
         {"value_size", benchmark.value_size},
         {"batch_size", benchmark.batch_size},
         {"sync", benchmark.sync},
         {"one_call", IsOneCall(benchmark)},
         {"finds", FindsName(benchmark)},
         {"fill", benchmark.fill},
         {"writer", benchmark.writer},
         {"key_order", KeyOrderName(benchmark.key_order)},
         {"types", TypesJson(benchmark)},
         {"title", benchmark.title},
         {"summary", benchmark.summary},
         {"unsupported", UnsupportedReason(driver, benchmark, Config())}});
  }
  return json;
}

Json PromiseJson(const Guarantee& guarantee) {
  const auto& promise = guarantee.promise;
  return promise ? Json(PromiseText(*promise)) : Json(nullptr);
}

// Returns null for a benchmark that writes nothing.
Json PromiseOf(const Benchmark& benchmark, const Config& config,
               const Driver& driver) {
  if (!Changes(benchmark)) return nullptr;
  const auto level = static_cast<size_t>(DurabilityOf(benchmark, config));
  return PromiseJson(driver.guarantees().at(level));
}

// Returns the promise of each level; null for one that the engine lacks.
Json PromisesJson(const Driver& driver) {
  Json json = Json::object();
  for (size_t level = 0; level < kDurabilities; ++level) {
    const Guarantee guarantee = driver.guarantees().at(level);
    Json& entry = json[std::string(kDurabilityNames.at(level))];
    if (!guarantee.promise) continue;
    entry = {{"promise", PromiseJson(guarantee)}, {"source", guarantee.source}};
  }
  return json;
}

// Engines may report errors in bytes that are not UTF-8.
std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string ToJsonLine(const Measurement& m, const Config& config,
                       const Driver& driver) {
  Json json = {{"schema", kSchema},
               {"method", kMethod},
               {"engine", driver.name},
               {"engine_version", driver.version()},
               {"benchmark", m.benchmark->name},
               {"seed", config.seed},
               {"status", StatusName(m.status)},
               {"reason", m.reason},
               {"ending", EndingName(m.ending)}};
  AddCounts(m, json);
  AddTimes(m, json);
  json["options"] = OptionsJson(*m.benchmark, config);
  json["promise"] = PromiseOf(*m.benchmark, config, driver);
  json["settings"] = m.settings;
  AddResources(m, driver, json);
  if (!config.device_stat.empty()) json["device"] = DeviceJson(m);
  AddTrace(m, json);
  AddParts(m, json);
  json["build"] = BuildJson(driver);
  return Dump(json, -1);
}

std::string DescribeJson(const Driver& driver) {
  const CodecProof proof = ProveCodec(driver);
  return Dump({{"schema", kSchema},
               {"method", kMethod},
               {"engine", driver.name},
               {"version", driver.version()},
               {"licence", driver.licence},
               {"codec", driver.codec},
               {"codec_proof",
                {{"raw_bytes", proof.raw_bytes},
                 {"compressed_disk_bytes", proof.compressed_disk_bytes},
                 {"plain_disk_bytes", proof.plain_disk_bytes},
                 {"compresses", Compresses(proof)}}},
               {"scans", NameOf(driver.scans)},
               {"stores", driver.stores},
               {"promises", PromisesJson(driver)},
               {"build", BuildJson(driver)},
               {"common_flags", CommonFlagsJson()},
               {"flags", DriverFlagsJson()},
               {"benchmarks", BenchmarksJson(driver)}},
              2);
}

}  // namespace kvmatrix
