#include "tests/fuzz/words.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "common/cli/after_list.h"
#include "common/cli/console.h"
#include "common/cli/flags.h"
#include "common/cli/parse_flags.h"
#include "common/mixes/key_space.h"
#include "common/random/thread_share.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"

namespace kvmatrix::fuzz {
namespace {

// False also for a number that is not one.
template <typename Number>
bool IsWithin(Number number, Number min, Number max) {
  return number >= min && number <= max;
}

// A message is one line that a terminal shows as it is, and not endless.
void RequireReadable(const std::string& message) {
  Require(!message.empty(), "a refusal says why");
  const std::string shown = Printable(message);
  Require(shown.size() <= 8'000, "a message is not endless");
  Require(std::ranges::none_of(
              shown, [](char c) { return IsWithin(c, '\0', '\x1f'); }),
          "a message has no control characters");
  Require(Printable(shown) == shown || shown.size() > 2'000,
          "what is printable stays as it is");
}

void RequireNumbers(const Config& c) {
  Require(IsWithin<uint64_t>(c.num, 1, kMaxKeys), "--num");
  Require(IsWithin<uint64_t>(c.reads, 1, kMaxKeys), "--reads");
  Require(
      IsWithin<uint64_t>(c.key_size, KeyShape::kSmallest, KeyShape::kLargest),
      "--key_size");
  Require(c.value_size <= ValueSizes::kLargest, "--value_size");
  Require(IsWithin(c.compression_ratio, 0.0, 1.0), "--compression_ratio");
  Require(IsWithin(c.zipf_theta, 0.01, 10.0), "--zipf_theta");
  Require(IsWithin<uint64_t>(c.batch_size, 1, kMaxBatchEntries),
          "--batch_size");
  Require(c.transactions <= c.num, "--transactions");
  Require(IsWithin<uint64_t>(c.threads, 1, kMaxThreads), "--threads");
  Require(c.cache_size <= uint64_t{1} << 44, "--cache_size");
  Require(c.readwritepercent <= 100, "--readwritepercent");
  Require(c.duration_ns < 1'000'000'000'000'000'000, "--duration");
  Require(IsWithin(c.rate_ops_per_sec, 0.0, 1e9), "--rate");
  if (c.value_size_law == SizeLaw::kFixed) return;
  const auto [min, max] = SizeBoundsOf(c);
  Require(1 <= min && min <= max && max <= ValueSizes::kLargest,
          "the bounds of value sizes");
}

void RequireBenchmark(const Benchmark& benchmark, const Config& config) {
  const uint64_t keys = KeySpaceOf(benchmark, config);
  Require(keys >= 1, "a benchmark has a key");
  Require(keys <= config.key_shape().capacity(), "every key has its own bytes");
  if (!IsWriting(benchmark)) return;
  Require(IsWithin<uint64_t>(EntriesOf(benchmark, config), 1, kMaxKeys + 999),
          "entries to write");
  Require(
      IsWithin<uint64_t>(BatchSizeOf(benchmark, config), 1, kMaxBatchEntries),
      "the size of a batch");
}

void RequireAfter(const Config& config) {
  Require(config.after.empty() != config.use_existing_db,
          "--after belongs to --use_existing_db");
  Require(config.after.size() <= kMaxListed, "the length of --after");
  for (const AppliedBenchmark& applied : config.after) {
    const size_t threads = applied.operations.size();
    Require(IsWithin<size_t>(threads, 1, kMaxThreads), "writing threads");
    Require(threads == 1 || !applied.benchmark->writer, "one writer");
    RequireBenchmark(*applied.benchmark, config);
    for (size_t thread = 0; thread < threads; ++thread) {
      const uint64_t operations = applied.operations[thread];
      Require(operations <= kMaxKeys, "operations");
      if (!IsWriting(*applied.benchmark) ||
          MayEndByTime(*applied.benchmark, config)) {
        continue;
      }
      const ThreadShare share{thread, threads};
      Require(
          operations <= share.CountOf(EntriesOf(*applied.benchmark, config)),
          "a thread writes at most its share");
    }
  }
}

void RequireWithinLimits(const Config& config) {
  RequireNumbers(config);
  Require(IsWithin<size_t>(config.benchmarks.size(), 1, kMaxListed),
          "the length of --benchmarks");
  for (const Benchmark* benchmark : config.benchmarks) {
    RequireBenchmark(*benchmark, config);
  }
  RequireAfter(config);
  Require(!config.db.empty(), "--db");
}

}  // namespace

void Fail(const std::string& promise) {
  std::fprintf(stderr, "broken promise: %s\n", promise.c_str());
  std::abort();
}

std::vector<std::string> WordsOf(std::string_view input) {
  std::vector<std::string> words;
  for (std::string_view word : Split(input, '\n')) {
    words.emplace_back(word.substr(0, word.find('\0')));
  }
  return words;
}

std::optional<Config> ConfigOf(const std::vector<std::string>& words) {
  const gflags::FlagSaver saver;
  std::vector<const char*> argv;
  argv.reserve(words.size());
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    const Action action = ActionOf(argv);
    if (action != Action::kRun && action != Action::kCheck) return {};
    ParseFlags(argv, Driver{});
    Config config = ConfigFromFlags();
    RequireWithinLimits(config);
    return config;
  } catch (const UsageError& error) {
    RequireReadable(error.what());
    for (const std::string& line : error.lines()) RequireReadable(line);
    return {};
  }
}

}  // namespace kvmatrix::fuzz
