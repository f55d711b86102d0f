#include "common/run/rehearsal.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "common/run/runner.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kWindowNs = 200'000'000;
constexpr uint64_t kLimitNs = 10'000'000'000;
constexpr size_t kSteadyWindows = 3;
constexpr double kSteadyShare = 0.05;
// Enough for the paths of a larger database, and written in a moment.
constexpr uint64_t kMaxEntries = 100'000;
constexpr uint64_t kEntriesOfOpening = 1'000;

// The configuration of the scratch database, in a folder of its own.
Config Scratch(const Config& config) {
  Config scratch = config;
  scratch.db = config.db / "rehearsal";
  scratch.num = std::min(config.num, kMaxEntries);
  scratch.reads = std::min(config.reads, kMaxEntries);
  scratch.duration_ns = kWindowNs;
  scratch.ends_by_time = false;
  scratch.warmup_ns = 0;
  scratch.rate_ops_per_sec = scratch.rate_share = 0;
  scratch.histogram = scratch.crash = scratch.settle = false;
  scratch.use_existing_db = false;
  scratch.after.clear();
  scratch.json.clear();
  scratch.progress.clear();
  return scratch;
}

bool IsSteady(const std::vector<double>& rates) {
  if (rates.size() < kSteadyWindows) return false;
  const auto [least, most] =
      std::minmax_element(rates.end() - kSteadyWindows, rates.end());
  return *most - *least < kSteadyShare * *most;
}

// The benchmark again and again, on a database that is filled as it needs.
class Repeated {
 public:
  Repeated(const Driver& driver, const Benchmark& benchmark,
           const Config& config, Clock& clock)
      : benchmark_(benchmark),
        fill_(*FindBenchmark(benchmark.fill)),
        runner_(driver, config, clock) {}

  // Returns the rate of one window; nothing if the benchmark fails.
  std::optional<double> Window() {
    uint64_t operations = 0, elapsed_ns = 0;
    while (elapsed_ns < kWindowNs) {
      if (!IsFresh(benchmark_) && (is_first_ || Deletes())) {
        if (runner_.Run(fill_).status != Status::kOk) return {};
      }
      is_first_ = false;
      const Measurement m = runner_.Run(benchmark_);
      const LoopResult& loop = m.run.loop;
      if (m.status != Status::kOk || loop.operations == 0) return {};
      operations += loop.operations;
      elapsed_ns += loop.loop_ns;
    }
    return static_cast<double>(operations) / static_cast<double>(elapsed_ns);
  }

 private:
  bool Deletes() const {
    return Changes(benchmark_) && benchmark_.kind != Kind::kWrite;
  }

  const Benchmark& benchmark_;
  const Benchmark& fill_;
  Runner runner_;
  bool is_first_ = true;
};

void OpenAndClose(const Driver& driver, Config scratch, Clock& clock) {
  scratch.num = std::min(scratch.num, kEntriesOfOpening);
  Runner(driver, scratch, clock).Run(*FindBenchmark("fillseq"));
  std::filesystem::remove_all(scratch.db);
}

}  // namespace

std::optional<Rehearsal> Rehearse(const Driver& driver,
                                  const Benchmark& benchmark,
                                  const Config& config, Clock& clock) {
  if (driver.rehearses == nullptr || !driver.rehearses() ||
      benchmark.kind == Kind::kCompact || benchmark.kind == Kind::kPrimitive ||
      config.stream != StreamKind::kOwn) {
    return {};
  }
  const Config scratch = Scratch(config);
  std::filesystem::create_directories(scratch.db);
  if (benchmark.kind == Kind::kVerify) {
    OpenAndClose(driver, scratch, clock);
    return {};
  }
  Rehearsal rehearsal;
  const uint64_t start_ns = clock.NowNs();
  {
    Repeated repeated(driver, benchmark, scratch, clock);
    std::vector<double> rates;
    while (!rehearsal.steady && rehearsal.elapsed_ns < kLimitNs) {
      const std::optional<double> rate = repeated.Window();
      rehearsal.elapsed_ns = clock.NowNs() - start_ns;
      if (!rate) break;
      rates.push_back(*rate);
      rehearsal.steady = IsSteady(rates);
    }
  }
  std::filesystem::remove_all(scratch.db);
  return rehearsal;
}

}  // namespace kvmatrix
