#include "common/cli/text_output.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <vector>

#include "common/cli/console.h"
#include "common/cli/executable.h"
#include "common/cli/parse_flags.h"
#include "common/cli/provenance.h"
#include "common/spec/size_law.h"
#include "common/stream/from_config.h"

namespace kvmatrix {
namespace {

constexpr double kMegabyte = 1048576.0;

__attribute__((format(printf, 1, 2))) std::string Format(const char* format,
                                                         ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  return line;
}

std::string SizesText(const Config& config, bool compresses) {
  const ValueSizes sizes = SizesOf(config, config.value_size);
  const double key = static_cast<double>(config.key_size);
  const double value = sizes.Mean();
  const double compressed =
      compresses ? value * config.compression_ratio : value;
  const double num = static_cast<double>(config.num);
  const std::string values =
      sizes.fixed()
          ? Format("%.0f bytes each", value)
          : Format("%zu to %zu bytes, %s, %.1f on average", sizes.min(),
                   sizes.max(), std::string(SizeLawName(sizes.law())).c_str(),
                   value);
  return Format("Keys:       %.0f bytes each\n", key) +
         Format("Values:     %s", values.c_str()) +
         (compresses
              ? Format(" (%.0f bytes after compression)\n", compressed + 0.5)
              : " (not compressed)\n") +
         Format("Entries:    %.0f\n", num) +
         Format("RawSize:    %.1f MB (estimated)\n",
                (key + value) * num / kMegabyte) +
         Format("FileSize:   %.1f MB (estimated)\n",
                (key + compressed) * num / kMegabyte);
}

// Of loop and flush together, at least a nanosecond in all.
double MicrosPerOp(const Measurement& m) {
  const LoopResult& loop = m.run.loop;
  const uint64_t elapsed_ns = std::max<uint64_t>(loop.loop_ns + m.flush_ns, 1);
  return static_cast<double>(elapsed_ns) / 1e3 /
         static_cast<double>(std::max<uint64_t>(loop.operations, 1));
}

double MeanOf(std::vector<double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) /
         static_cast<double>(numbers.size());
}

double MedianOf(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const size_t half = numbers.size() / 2;
  return MeanOf({numbers[(numbers.size() - 1) / 2], numbers[half]});
}

// Returns the number of operations of each type: "500123 read, 499877 update".
std::string TypesText(const LoopResult& loop) {
  std::string text;
  for (const auto& [type, operations] : loop.by_type) {
    text += text.empty() ? "" : ", ";
    text += std::to_string(operations) + " " + type;
  }
  return text;
}

std::string Message(const Measurement& m) {
  std::string message;
  const LoopResult& loop = m.run.loop;
  if (IsMix(*m.benchmark)) {
    message += " (" + TypesText(loop) + ")";
  } else if (m.benchmark->access == Access::kGet ||
             m.benchmark->access == Access::kSeek) {
    const uint64_t of = m.found_of.value_or(loop.operations);
    if (of > 0) {
      message += Format(" (%llu of %llu found)",
                        static_cast<unsigned long long>(loop.found),
                        static_cast<unsigned long long>(of));
    }
  } else if (m.benchmark->num_divisor > 1 || m.run.trace.truncated) {
    message +=
        Format(" (%llu ops)", static_cast<unsigned long long>(loop.operations));
  }
  if (!loop.label.empty()) message += " (" + loop.label + ")";
  if (m.threads > 1) message += " (" + std::to_string(m.threads) + " threads)";
  if (m.run.trace.open_loop)
    message += " (open loop: including pauses between calls)";
  if (!m.verified) message += " (not verified)";
  if (const size_t passes = m.passes.size(); passes > 1) {
    message += " (" + std::to_string(passes) + " passes)";
  }
  if (m.ending == Ending::kKilled) message += " (killed)";
  return message;
}

std::string OpenLoopText(const OpenLoopFigures& figures) {
  std::string share;
  if (const double max = figures.max_ops_per_sec; max > 0) {
    share = Format(", %.3g %% of the %.0f ops/s of the warm-up",
                   100 * figures.rate_ops_per_sec / max, max);
  }
  return Format("%sachieved %.0f of %.0f ops/s offered, %.0f requested",
                figures.saturated() ? "saturated: " : "open loop: ",
                figures.achieved_ops_per_sec, figures.offered_ops_per_sec,
                figures.rate_ops_per_sec) +
         share + "\n" +
         Format("%llu late starts, at most %.3f micros behind the schedule\n",
                static_cast<unsigned long long>(figures.late_starts),
                static_cast<double>(figures.max_lag_ns) / 1e3);
}

// Returns the line of the thread that writes while others read.
std::string WriterText(const WriterResult& writer) {
  const double micros = static_cast<double>(writer.loop.loop_ns) / 1e3;
  const auto operations =
      static_cast<unsigned long long>(writer.loop.operations);
  const double per_op =
      operations == 0 ? 0 : micros / static_cast<double>(operations);
  std::string text = Format("%-12s : %11.3f micros/op; %llu ops", "writer",
                            per_op, operations);
  if (writer.rate_ops_per_sec > 0) {
    text += Format("; requested %.0f/s", writer.rate_ops_per_sec);
  }
  text += "\n";
  if (!writer.latency || writer.latency->count() == 0) return text;
  return text + "Microseconds per write of the writer, service time:\n" +
         writer.latency->ToString();
}

// Returns a line for each property of the operations drawn, with its
// expectation.
std::string SharesText(const Measurement& m) {
  std::string text;
  for (const Share& share : m.shares) {
    const bool amount =
        share.what.ends_with("bytes") || share.what.ends_with("entries");
    const double scale = amount ? 1 : 100;
    const char* const unit = amount ? "" : " %";
    text += Format("  %-40s : %9.3f%s; theory %9.3f%s\n", share.what.c_str(),
                   share.observed * scale, unit, share.expected * scale, unit);
  }
  return text;
}

// Returns the percentiles of each type of operation of a mix, if there are
// several.
std::string TypesLatencyText(const Measurement& m) {
  std::string text;
  if (m.run.latency_by_type.size() < 2) return text;
  for (const auto& [type, latency] : m.run.latency_by_type) {
    text += "Microseconds per " + type + ":\n" + latency.ToString();
  }
  return text;
}

// Returns the histogram under a heading that says where its latencies begin.
std::string LatencyText(const Measurement& m) {
  const std::optional<Histogram>& latency = m.run.trace.latency;
  const std::optional<Histogram>& service = m.run.trace.service;
  if (!latency || latency->count() == 0) return "";
  const std::string unit = latency->count() == m.run.loop.operations
                               ? "Microseconds per op"
                               : "Microseconds per batch";
  const std::string buckets = latency->BucketsText() + TypesLatencyText(m);
  if (!service) {
    return unit + ", service time, closed loop:\n" + latency->ToString() +
           buckets;
  }
  return unit + ", from the intended start:\n" + latency->ToString() + unit +
         ", service time, open loop:\n" + service->ToString() + buckets;
}

std::string WarmUpText(const std::optional<Rehearsal>& rehearsal) {
  if (!rehearsal) return "";
  return Format("  JIT warm-up: %.1f s, %s\n",
                static_cast<double>(rehearsal->elapsed_ns) / 1e9,
                rehearsal->steady ? "steady" : "no steady state");
}

// Returns what the replayed program sets and the command line may override.
std::string ProgramText(std::span<const char* const> flags) {
  if (flags.empty()) return "";
  std::string text = "Program:   ";
  for (const char* const flag : flags) text += Format(" %s", flag);
  return text + ", unless set otherwise\n";
}

}  // namespace

std::string HeaderText(const Config& config, const Driver& driver) {
  std::string text =
      Format("%s:    version %s\n", driver.name, driver.version().c_str()) +
      SizesText(config, config.compression && *driver.codec);
#ifndef NDEBUG
  text +=
      "WARNING: the harness is built without NDEBUG; results are misleading\n";
#endif
  if (HasLiveAssertions(driver.code)) {
    text += "WARNING: Assertions are enabled; benchmarks unnecessarily slow\n";
  }
  if (config.threads > 1) {
    text += Format(
        "Threads:    %llu; micros/op is the time from the common start to the "
        "end of the\n            last thread, divided by the operations of "
        "all threads\n",
        static_cast<unsigned long long>(config.threads));
  }
  if (config.stream != StreamKind::kOwn) {
    text +=
        "Seeds:      those of the replayed program; --seed only determines "
        "what an audit\n            samples\n";
    text += ProgramText(ProgramFlags(driver, config.stream));
  }
  if (config.value_size == 0) {
    text +=
        "WARNING: values of 0 bytes cannot be distinguished: keys are checked, "
        "but an old\nvalue is not distinguished from a new one\n";
  }
  return text + "------------------------------------------------\n";
}

Rates RatesOf(const Measurement& m) {
  if (m.status != Status::kOk) return {};
  const double operations = 1e6 / MicrosPerOp(m);
  const LoopResult& loop = m.run.loop;
  const double seconds = static_cast<double>(loop.loop_ns + m.flush_ns) / 1e9;
  if (m.benchmark->access == Access::kGet ||
      (m.benchmark->access == Access::kSeek && !IsMix(*m.benchmark))) {
    return {operations};
  }
  return {operations, static_cast<double>(loop.bytes) / kMegabyte / seconds};
}

std::string RepeatsText(std::string_view benchmark,
                        std::span<const Rates> results) {
  std::vector<double> operations, megabytes;
  for (const Rates& rates : results) {
    if (rates.operations == 0) continue;
    operations.push_back(rates.operations);
    megabytes.push_back(rates.megabytes);
  }
  if (operations.size() < 2) return "";
  const auto line = [&](const char* what,
                        double (*middle)(std::vector<double>)) {
    const double rate = middle(megabytes);
    return Format("%-12s [%-6s %zu runs] : %.0f ops/sec",
                  std::string(benchmark).c_str(), what, operations.size(),
                  middle(operations)) +
           (rate > 0 ? Format("; %6.1f MB/sec\n", rate) : "\n");
  };
  return line("AVG", MeanOf) + line("MEDIAN", MedianOf);
}

std::string StatLine(const Measurement& m) {
  const std::string name(m.benchmark->name);
  if (m.status != Status::kOk) {
    std::string line = Format("%-12s : ", name.c_str());
    line += StatusName(m.status);
    if (m.status == Status::kUnsupported) line += ": " + Printable(m.reason);
    return line + "\n";
  }
  const auto [operations, megabytes] = RatesOf(m);
  std::string text =
      Format("%-12s : %11.3f micros/op;%s %.0f ops/sec%s\n", name.c_str(),
             MicrosPerOp(m),
             (megabytes > 0 ? Format(" %6.1f MB/s", megabytes) : "").c_str(),
             operations, Message(m).c_str());
  if (m.run.trace.open_loop) text += OpenLoopText(*m.run.trace.open_loop);
  text += WarmUpText(m.rehearsal) + SharesText(m) + LatencyText(m);
  return m.run.writer ? text + WriterText(*m.run.writer) : text;
}

std::string WarmUpLine(const Measurement& m) {
  const std::string name(m.benchmark->name);
  if (m.status != Status::kOk) {
    return "Warm-up of " + name + ": " + std::string(StatusName(m.status)) +
           "\n";
  }
  return Format("Warm-up of %s: %.3f micros/op, not a result\n", name.c_str(),
                MicrosPerOp(m));
}

std::string VersionText(const Driver& driver) {
  std::string text =
      Format("db_bench_%s\n", driver.name) +
      Format("engine:      %s %s\n", driver.name, driver.version().c_str()) +
      Format("origin:      %s\n", GetBuildFacts().origin) +
      Format("checksum:    %s\n", GetBuildFacts().origin_sha256) +
      Format("compiler:    %s\n", GetBuildFacts().compiler) +
      Format("flags:       %s\n", GetBuildFacts().flags) +
      Format("engine code: %s\n", GetBuildFacts().engine_flags) +
      Format("assertions:  %s\n",
             HasLiveAssertions(driver.code) ? "live" : "none") +
      "allocator:   " + AllocatorInForce() + "\n";
  const CodecProof proof = ProveCodec(driver);
  text += Format("codec:       %s", *driver.codec ? driver.codec : "none");
  if (*driver.codec) {
    text += Compresses(proof) ? ", linked and working" : ", NOT WORKING";
  }
  text += Format(
      " (%llu raw bytes take %llu on disk with compression, %llu "
      "without)\n",
      static_cast<unsigned long long>(proof.raw_bytes),
      static_cast<unsigned long long>(proof.compressed_disk_bytes),
      static_cast<unsigned long long>(proof.plain_disk_bytes));
  return text + Format("licence:     %s\n", driver.licence);
}

}  // namespace kvmatrix
