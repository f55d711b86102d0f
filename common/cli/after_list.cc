#include "common/cli/after_list.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/random/thread_share.h"
#include "common/spec/leveldb_words.h"
#include "common/spec/number.h"
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

// A thread writes at most its share of the entries, unless time alone ended it.
void RequirePossible(const Benchmark& benchmark, const Config& config,
                     const std::vector<uint64_t>& operations) {
  if (MayEndByTime(benchmark, config)) return;
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
    const std::optional<uint64_t> count = ParseCount(digits);
    if (!count) RefuseCounts(text);
    operations.push_back(*count);
    if (*count > kMaxKeys) {
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

[[noreturn]] void RefuseTimes(std::string_view flag, std::string_view word) {
  throw UsageError(std::string(flag),
                   "'" + std::string(word) +
                       "': expected [X3] for three times, [W2] for two more "
                       "before them that do not count, or [X3-W2]; at most " +
                       std::to_string(kMaxListed));
}

// How often a benchmark is run.
struct Times {
  uint64_t results = 1;
  uint64_t warm_ups = 0;
};

// Reads "X3-W2".
Times TimesOf(std::string_view flag, std::string_view word,
              std::string_view text) {
  Times times;
  for (const std::string_view part : Split(text, '-')) {
    const bool repeats = part.starts_with('X');
    uint64_t& count = repeats ? times.results : times.warm_ups;
    if (!repeats && !part.starts_with('W')) RefuseTimes(flag, word);
    const std::optional<uint64_t> number = ParseCount(part.substr(1));
    if (!number || *number == 0 || *number > kMaxListed) {
      RefuseTimes(flag, word);
    }
    count = *number;
  }
  if (text.empty() || text.ends_with('-')) RefuseTimes(flag, word);
  return times;
}

}  // namespace

std::vector<ListedWord> SplitList(std::string_view flag,
                                  std::string_view list) {
  std::vector<ListedWord> words;
  for (const std::string_view part : Split(list)) {
    std::string_view word = Trimmed(part);
    Times times;
    if (const size_t bracket = word.find('[');
        bracket != word.npos && word.ends_with(']')) {
      const size_t end = word.size() - 1;
      times = TimesOf(flag, word, word.substr(bracket + 1, end - bracket - 1));
      word = Trimmed(word.substr(0, bracket));
    } else if (word.empty()) {
      continue;  // as in db_bench
    }
    for (uint64_t i = 0; i < times.warm_ups; ++i) words.push_back({word, true});
    for (uint64_t i = 0; i < times.results; ++i) words.push_back({word});
    words.back().repeats = times.results;
    if (words.size() <= kMaxListed) continue;
    throw UsageError(std::string(flag),
                     "expected at most " + std::to_string(kMaxListed) +
                         " benchmarks, with those that are repeated");
  }
  return words;
}

std::vector<std::string> UnknownIn(std::string_view flag,
                                   std::string_view list) {
  std::vector<std::string> lines;
  for (const ListedWord& listed : SplitList(flag, list)) {
    std::string_view name = listed.word;
    if (flag == "after") name = name.substr(0, name.find(':'));
    if (FindBenchmark(name) != nullptr) continue;
    const std::string advice = AdviceOnBenchmark(name);
    std::string line = "unknown benchmark '" + std::string(name) + "'" +
                       (advice.empty() ? "" : ": " + advice);
    if (std::ranges::find(lines, line) == lines.end()) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

void RequireKnown(std::string_view flag, std::string_view list) {
  const std::vector<std::string> lines = UnknownIn(flag, list);
  constexpr std::string_view kHelp = "; --help lists the benchmarks";
  if (lines.size() == 1) {
    throw UsageError(std::string(flag), lines.front() + std::string(kHelp));
  }
  if (lines.empty()) return;
  throw UsageError("--" + std::string(flag) + ": " +
                       std::to_string(lines.size()) + " unknown benchmarks" +
                       std::string(kHelp),
                   lines);
}

std::vector<AppliedBenchmark> ParseAfterList(std::string_view list,
                                             const Config& config) {
  std::vector<AppliedBenchmark> applied;
  bool filled = false;
  RequireKnown("after", list);
  for (const ListedWord& listed : SplitList("after", list)) {
    const Benchmark& benchmark =
        *applied.emplace_back(ParseAfterWord(listed.word, config)).benchmark;
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
  const Benchmark* benchmark = FindBenchmark(word.substr(0, colon));
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
