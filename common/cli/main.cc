#include <gflags/gflags.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <exception>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "common/cli/console.h"
#include "common/cli/executable.h"
#include "common/cli/flags.h"
#include "common/cli/json_output.h"
#include "common/cli/parse_flags.h"
#include "common/cli/text_output.h"
#include "common/crash/crash_test.h"
#include "common/driver.h"
#include "common/run/limits.h"
#include "common/run/passes.h"
#include "common/run/rehearsal.h"
#include "common/run/runner.h"
#include "common/stream/leveldb_stream.h"
#include "common/timing/clock.h"

namespace kvmatrix {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

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

// Returns an error with the limit of this process that explains it.
std::string WithLimit(std::string_view error) {
  gflags::CommandLineFlagInfo flag;
  uint64_t mapped = 0;
  if (gflags::GetCommandLineFlagInfo("map_size", &flag)) {
    const std::string& text = flag.current_value;
    std::from_chars(text.data(), text.data() + text.size(), mapped);
  }
  return Explained(error, mapped);
}

bool Failed(const Measurement& measurement) {
  return measurement.status == Status::kWrong ||
         measurement.status == Status::kError;
}

// Prints the line of the measurement to standard output and why it failed to
// standard error, and appends it to --json.  Nothing stays in a buffer, because
// the process may be killed next.
void Report(const Measurement& measurement, const Config& config,
            const Driver& driver) {
  PrintText(StatLine(measurement));
  if (!config.json.empty()) {
    AppendLine(config.json, ToJsonLine(measurement, config, driver));
  }
  if (Failed(measurement)) {
    PrintError(std::string(measurement.benchmark->name) + ": " +
               std::string(StatusName(measurement.status)) + ": " +
               measurement.reason);
  }
}

int RunAll(const Config& config, const Driver& driver) {
  SteadyClock clock;
  Runner runner(driver, config, clock);
  if (!config.json.empty()) RequireWritable(config.json);
  // With --json a program runs this, and the options in the document say the
  // same.
  if (config.json.empty()) PrintNotes(DifferenceNotes(config));
  PrintText(HeaderText(config, driver));
  std::optional<Rehearsal> rehearsal;
  bool counts = true;
  const auto report = [&](Measurement measurement) {
    measurement.rehearsal = rehearsal;
    if (measurement.status == Status::kError) {
      measurement.reason = WithLimit(measurement.reason);
    }
    if (counts || Failed(measurement)) {
      Report(measurement, config, driver);
    } else {
      PrintText(WarmUpLine(measurement));
    }
  };
  // The last words of a killed process: no one would catch an exception.
  const Runner::Reporter report_last =
      [&report](const Measurement& measurement) noexcept {
        try {
          report(measurement);
        } catch (const std::exception& error) {
          PrintError(error.what());
        }
      };
  int exit_status = 0;
  std::vector<Rates> rates;
  for (size_t i = 0; i < config.benchmarks.size(); ++i) {
    const Benchmark& benchmark = *config.benchmarks[i];
    const bool last = i + 1 == config.benchmarks.size();
    const Benchmark* next = last ? nullptr : config.benchmarks[i + 1];
    counts = !config.warm_ups.contains(i);
    rehearsal = Rehearse(driver, benchmark, config, clock);
    const Runner::Reporter none;
    const Measurement measurement =
        RunPasses(runner, benchmark, config, next,
                  config.crash && last ? report_last : none);
    report(measurement);
    if (Failed(measurement)) exit_status = kFailed;
    if (counts) rates.push_back(RatesOf(measurement));
    if (const auto of = config.repeats.find(i); of != config.repeats.end()) {
      PrintText(RepeatsText(benchmark.name, std::span(rates).last(of->second)));
    }
  }
  return exit_status;
}

int Main(std::vector<const char*> words) {
  const Action action = ActionOf(words);
  const Driver& driver = SelectDriver(words);
  CheckNames(driver);
  const CrashFlags crash = TakeCrashFlags(words);
  if (action == Action::kHelp) {
    PrintText(HelpText());
  } else if (action == Action::kVersion) {
    PrintText(VersionText(driver));
  } else if (action == Action::kDescribe) {
    PrintText(DescribeJson(driver));
  } else {
    ParseFlags(words, driver);
    const Config config = ConfigFromFlags();
    if (action == Action::kCheck) return 0;
    if (crash.test == CrashTest::kNone) return RunAll(config, driver);
    return RunCrashTest(driver, config, crash, PrintText);
  }
  return 0;
}

// Returns the exit status of an exception, after printing it.
int Refuse(const std::exception& error, int exit_status) {
  PrintError(WithLimit(error.what()));
  return exit_status;
}

}  // namespace
}  // namespace kvmatrix

int main(int argc, char** argv) {
  using namespace kvmatrix;
  OpenStandardStreams();
  // A file that would be too large is an error of the call, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    KeepStandardOutput();
    return Main({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    PrintError(error.what());
    for (const std::string& line : error.lines()) {
      PrintNotes("  " + Printable(line) + "\n");
    }
    return kUsage;
  } catch (const OutputError& error) {
    return Refuse(error, kUsage);
  } catch (const std::exception& error) {
    return Refuse(error, kFailed);
  }
}
