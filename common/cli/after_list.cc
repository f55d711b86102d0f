#include "common/cli/after_list.h"

#include <charconv>
#include <string>

#include "common/random/thread_share.h"
#include "common/spec/quantities.h"

namespace kvmatrix {
namespace {

[[noreturn]] void RefuseCounts(std::string_view text) {
  throw UsageError(
      "after",
      "'" + std::string(text) +
          "' is not a number of operations; expected one number, or one "
          "per thread, such as 2500+2500");
}

// A thread of a writing benchmark writes at most its share of the entries.
void RequirePossible(const Benchmark& benchmark, const Config& config,
                     const std::vector<uint64_t>& operations) {
  const uint64_t entries = EntriesOf(benchmark, config);
  for (uint64_t thread = 0; thread < operations.size(); ++thread) {
    const uint64_t most =
        ThreadShare{thread, operations.size()}.CountOf(entries);
    if (operations[thread] <= most) continue;
    throw UsageError("after", std::string(benchmark.name) + ":" +
                                  std::to_string(operations[thread]) +
                                  " exceeds the " + std::to_string(most) +
                                  " operations of thread " +
                                  std::to_string(thread + 1) + " of " +
                                  std::to_string(operations.size()) +
                                  "; use the ops_by_thread that --json "
                                  "recorded for it, and the --num "
                                  "that it was run with");
  }
}

// Parses "5000" or, for several threads, "2500+2500".
std::vector<uint64_t> OperationsOf(const Benchmark& benchmark,
                                   const Config& config,
                                   std::string_view text) {
  std::vector<uint64_t> operations;
  // Split() drops an empty word at the end.
  if (text.ends_with('+')) RefuseCounts(text);
  for (const std::string_view digits : Split(text, '+')) {
    uint64_t& count = operations.emplace_back();
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      RefuseCounts(text);
    }
    if (count > kMaxKeys) {
      throw UsageError("after", std::string(benchmark.name) + ":" +
                                    std::string(digits) +
                                    " exceeds 10^16 operations, the most that "
                                    "a benchmark performs");
    }
  }
  const size_t most = benchmark.writer ? 1 : kMaxThreads;
  if (operations.empty() || operations.size() > most) {
    throw UsageError("after",
                     "expected the operations of 1 to " + std::to_string(most) +
                         " writing threads, not '" + std::string(text) + "'");
  }
  if (IsWriting(benchmark)) RequirePossible(benchmark, config, operations);
  return operations;
}

}  // namespace

std::vector<std::string_view> SplitList(std::string_view flag,
                                        std::string_view list) {
  std::vector<std::string_view> words = Split(list);
  if (words.size() <= kMaxListed) return words;
  throw UsageError(std::string(flag),
                   "expected at most " + std::to_string(kMaxListed) +
                       " benchmarks, not " + std::to_string(words.size()));
}

const Benchmark* RequireBenchmark(std::string_view flag,
                                  std::string_view name) {
  if (const Benchmark* benchmark = FindBenchmark(name)) return benchmark;
  std::string problem = "unknown benchmark '" + std::string(name) +
                        "'; --help lists the benchmarks";
  throw UsageError(std::string(flag), problem);
}

std::vector<AppliedBenchmark> ParseAfterList(std::string_view list,
                                             const Config& config) {
  std::vector<AppliedBenchmark> applied;
  bool filled = false;
  for (const std::string_view word : SplitList("after", list)) {
    const Benchmark& benchmark =
        *applied.emplace_back(ParseAfterWord(word, config)).benchmark;
    if (benchmark.kind == Kind::kPrimitive) continue;
    filled |= benchmark.prepare == Prepare::kFresh;
    if (filled) continue;
    throw UsageError(
        "after",
        std::string(benchmark.name) +
            " needs a filled database; list the benchmark that filled it "
            "first, such as " +
            std::string(benchmark.fill));
  }
  return applied;
}

AppliedBenchmark ParseAfterWord(std::string_view word, const Config& config) {
  const size_t colon = word.find(':');
  const Benchmark* benchmark = RequireBenchmark("after", word.substr(0, colon));
  if (!Changes(*benchmark) && config.stream == StreamKind::kOwn) {
    throw UsageError("after", std::string(benchmark->name) +
                                  " does not write; leave it out");
  }
  if (colon != word.npos) {
    return {benchmark,
            OperationsOf(*benchmark, config, word.substr(colon + 1))};
  }
  if (benchmark->writer) {
    throw UsageError(
        "after", std::string(benchmark->name) +
                     " needs the number of operations of its writer, such as " +
                     std::string(benchmark->name) + ":5000");
  }
  return {benchmark,
          {IsWriting(*benchmark) ? EntriesOf(*benchmark, config)
                                 : ReadsOf(*benchmark, config)}};
}

}  // namespace kvmatrix
