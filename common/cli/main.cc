#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <span>
#include <system_error>

#include "common/cli/flags.h"
#include "common/cli/json_output.h"
#include "common/cli/parse_flags.h"
#include "common/cli/text_output.h"
#include "common/driver.h"
#include "common/run/runner.h"
#include "common/stream/leveldb_stream.h"
#include "common/timing/clock.h"

namespace kvmatrix {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

// Returns the position of a flag with one or two dashes, or 0.  These few
// flags take no part in a run and are handled before the others.
int Find(int argc, char** argv, const char* flag) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') continue;
    const char* word = argv[i] + 1 + (argv[i][1] == '-');
    if (std::strcmp(word, flag) == 0) return i;
  }
  return 0;
}

// Removes the word at `index` from the command line; false if `index` is 0.
bool Drop(int index, int& argc, char** argv) {
  if (index == 0) return false;
  std::copy(argv + index + 1, argv + argc, argv + index);
  argv[--argc] = nullptr;
  return true;
}

void AppendLine(const std::filesystem::path& file, const std::string& line) {
  std::ofstream out(file, std::ios::app);
  out << line << std::flush;
  if (!out) throw std::runtime_error("--json: cannot write " + file.string());
}

// Fails now, rather than after hours of measuring.
void RequireWritable(const std::filesystem::path& json) {
  if (std::ofstream(json, std::ios::app)) return;
  throw UsageError("json", "cannot write " + json.string() + ": " +
                               std::generic_category().message(errno));
}

bool Failed(const Measurement& measurement) {
  return measurement.status == Status::kWrong ||
         measurement.status == Status::kError;
}

// Prints the measurement and appends it to --json.  Flushes before returning,
// because the process may be killed next.
void Report(const Measurement& measurement, const Config& config) {
  std::fputs(StatLine(measurement).c_str(), stdout);
  std::fflush(stdout);
  if (!config.json.empty()) {
    AppendLine(config.json, ToJsonLine(measurement, config, kDriver));
  }
  if (Failed(measurement)) {
    std::fprintf(stderr, "db_bench_%s: %s: %s\n", kDriver.name,
                 std::string(measurement.benchmark->name).c_str(),
                 measurement.reason.c_str());
  }
}

int RunAll(const Config& config) {
  SteadyClock clock;
  Runner runner(kDriver, config, clock);
  if (!config.json.empty()) RequireWritable(config.json);
  // With --json a program runs this, and the options in the document say the
  // same.
  if (config.json.empty()) std::fputs(DifferenceNotes(config).c_str(), stderr);
  std::fputs(HeaderText(config, kDriver).c_str(), stdout);
  std::fflush(stdout);
  const auto report = [&config](const Measurement& measurement) {
    Report(measurement, config);
  };
  int exit_status = 0;
  for (size_t i = 0; i < config.benchmarks.size(); ++i) {
    const Benchmark& benchmark = *config.benchmarks[i];
    const bool last = i + 1 == config.benchmarks.size();
    const Benchmark* next = last ? nullptr : config.benchmarks[i + 1];
    const Measurement measurement = config.crash && last
                                        ? runner.RunAndCrash(benchmark, report)
                                        : runner.Run(benchmark, next);
    report(measurement);
    if (Failed(measurement)) exit_status = kFailed;
  }
  return exit_status;
}

int Main(int argc, char** argv) {
  if (Find(argc, argv, "help") || Find(argc, argv, "helpfull")) {
    std::fputs(HelpText().c_str(), stdout);
  } else if (Find(argc, argv, "version")) {
    std::fputs(VersionText(kDriver).c_str(), stdout);
  } else if (Find(argc, argv, "describe")) {
    std::fputs(DescribeJson(kDriver).c_str(), stdout);
  } else {
    const bool only_check = Drop(Find(argc, argv, "check"), argc, argv);
    ParseFlags(std::span(argv, argc).subspan(1));
    const Config config = ConfigFromFlags();
    return only_check ? 0 : RunAll(config);
  }
  return 0;
}

}  // namespace
}  // namespace kvmatrix

int main(int argc, char** argv) {
  try {
    return kvmatrix::Main(argc, argv);
  } catch (const kvmatrix::UsageError& error) {
    std::fprintf(stderr, "db_bench_%s: %s\n", kvmatrix::kDriver.name,
                 error.what());
    return kvmatrix::kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "db_bench_%s: %s\n", kvmatrix::kDriver.name,
                 error.what());
    return kvmatrix::kFailed;
  }
}
