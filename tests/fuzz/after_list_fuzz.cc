// --after: what a list of benchmarks leaves behind.  A process runs the list
// from the first fill on, and another one, which only knows the list, audits
// the database.  A list that no process can have run is replayed all the same.

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/run/runner.h"
#include "common/spec/quantities.h"
#include "tests/fuzz/words.h"
#include "tests/timing/fake_clock.h"

namespace kvmatrix::fuzz {
namespace {

constexpr uint64_t kMaxOperations = 3'000;

// True if the list can be replayed, and run, in milliseconds.
bool IsSmall(const Config& config) {
  uint64_t operations = 0;
  for (const AppliedBenchmark& applied : config.after) {
    for (const uint64_t count : applied.operations) {
      operations += std::min(count, kMaxOperations + 1);
    }
  }
  return operations <= kMaxOperations && config.num <= kMaxOperations &&
         config.reads * config.threads <= kMaxOperations &&
         config.after.size() <= 20 && config.value_size <= 10'000 &&
         config.value_size_max <= 10'000 && config.batch_size <= 1'000;
}

// True if one thread has completed every benchmark of the list, as a process
// does that runs it.
bool IsComplete(const Config& config) {
  return std::ranges::all_of(
      config.after, [&](const AppliedBenchmark& applied) {
        const Benchmark& benchmark = *applied.benchmark;
        return benchmark.kind != Kind::kPrimitive && !benchmark.writer &&
               applied.operations ==
                   std::vector{IsWriting(benchmark)
                                   ? EntriesOf(benchmark, config)
                                   : ReadsOf(benchmark, config)};
      });
}

// Runs the list on a new database.  False if a benchmark refuses to follow.
bool RunList(const Config& config, Clock& clock) {
  Config first = config;
  first.use_existing_db = false;
  first.after.clear();
  Runner runner(kDriver, first, clock);
  for (size_t i = 0; i < config.after.size(); ++i) {
    const bool last = i + 1 == config.after.size();
    const Measurement m =
        runner.Run(*config.after[i].benchmark,
                   last ? nullptr : config.after[i + 1].benchmark);
    if (m.status == Status::kWrong) Fail("the reference is right: " + m.reason);
    if (m.status != Status::kOk) return false;
  }
  return true;
}

// Replays the list and audits the database.
Measurement Audit(const Config& config, Clock& clock) {
  Runner runner(kDriver, config, clock);
  return runner.Run(*FindBenchmark("verify"));
}

// The directory of all databases of this process.
struct Folder {
  ~Folder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("kvmatrix-fuzz-" + std::to_string(getpid()));
};

void Try(Config config) {
  static const Folder folder;
  config.db = folder.path;
  config.json.clear();
  config.progress.clear();
  config.device_stat.clear();
  config.settle = false;  // it waits for a while
  config.durability = Durability::kBuffered;
  config.duration_ns = 0;
  config.ends_by_time = false;
  config.warmup_ns = 0;  // this clock stands still
  config.rate_ops_per_sec = 0;
  config.mix.mixgraph.sine_mix_rate = false;
  FakeClock clock;
  bool ran = false;
  if (IsComplete(config)) {
    config.threads = 1;
    ran = RunList(config, clock);
  }
  if (!ran) std::filesystem::remove_all(folder.path);
  std::filesystem::create_directories(folder.path / "db_bench_memory");
  try {
    const Measurement m = Audit(config, clock);
    if (ran && m.status != Status::kOk) Fail("an audit agrees: " + m.reason);
  } catch (const std::runtime_error& error) {
    // A mix that does not fit the database: the processes that ran the list
    // would have refused it as well.
    if (ran)
      Fail(std::string("a list that was run is replayed: ") + error.what());
  }
}

}  // namespace
}  // namespace kvmatrix::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kvmatrix;
  const std::optional<Config> config =
      fuzz::ConfigOfInput({reinterpret_cast<const char*>(data), size});
  if (config && config->use_existing_db && fuzz::IsSmall(*config)) {
    fuzz::Try(*config);
  }
  return 0;
}
