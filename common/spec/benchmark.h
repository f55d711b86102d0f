// The table of benchmarks: one named workload each, in db_bench's own words.

#ifndef COMMON_SPEC_BENCHMARK_H_
#define COMMON_SPEC_BENCHMARK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kvmatrix {

enum class Kind {
  kWrite,
  kRead,
  kDelete,
  kCompact,
  kVerify,
  kMix,  // reads, writes and scans by chance; --reads of them, as of a read
  kPrimitive,  // no operation of a store; see HasPrimitives()
};

// What the database must have been through before the benchmark starts.
enum class Prepare {
  kFresh,      // nothing: a new database
  kFilled,     // filluniquerandom, settled, closed, opened in a new process
  kUnsettled,  // filluniquerandom, flushed, closed, opened in a new process
};

// The order in which a benchmark takes its keys.
enum class KeyOrder {
  kSequential,  // 0, 1, 2, ...
  kUniform,     // any key, independently: some twice, some never
  kUnique,      // every key once, in random order
  kHot,         // uniform over the first hundredth of the keys
  kZipf,        // by Zipf's law, its ranks scattered over the keys
  kYcsbZipf,    // as YCSB's request distribution "zipfian"; see zipf.h
  kLatest,      // by Zipf's law: the highest key is the most frequent
  kSteps,       // ever 0 to 99 keys further on, and round again
};

// The keys of kSteps advance by less than this.
inline constexpr uint64_t kMaxStep = 100;

// True if some keys are drawn more often than others, by a law over all keys.
constexpr bool IsSkewed(KeyOrder order) {
  return order == KeyOrder::kZipf || order == KeyOrder::kYcsbZipf ||
         order == KeyOrder::kLatest;
}

// Of so many keys, those that kHot draws: the first hundredth, at least one.
constexpr uint64_t HotKeys(uint64_t keys) { return (keys + 99) / 100; }

// Of each KeyOrder, its name.
std::span<const std::string_view> KeyOrderNames();
std::string_view KeyOrderName(KeyOrder order);

// The order of that name as --key_distribution has it, if there is one.
std::optional<KeyOrder> FindKeyOrder(std::string_view name);

// How a read benchmark reads.
enum class Access { kNone, kGet, kGetAbsent, kSeek, kForward, kBackward };

struct Benchmark {
  std::string_view name;
  Kind kind;
  Prepare prepare = Prepare::kFilled;
  KeyOrder key_order = KeyOrder::kUniform;
  Access access = Access::kNone;
  uint64_t num_divisor = 1;  // of --num, or of --reads where it reads
  uint64_t value_size = 0;   // bytes; 0: --value_size
  uint64_t batch_size = 0;   // entries per batch; 0: --batch_size
  uint64_t operations = 0;   // fixed, of a primitive
  bool sync = false;         // true: synchronous whatever --sync says
  bool writer = false;       // one writer overwrites beside the readers
  std::string_view fill = "filluniquerandom";  // what prepares its database
  std::string_view title;                      // for charts
  std::string_view summary;                    // one line for --help
};

// All benchmarks, in the order of --help.
std::span<const Benchmark> AllBenchmarks();

// The benchmark of that name, or null.
const Benchmark* FindBenchmark(std::string_view name);

// True if the benchmark scans, so that the engine must keep keys in order.
constexpr bool NeedsKeyOrder(const Benchmark& benchmark) {
  return benchmark.access == Access::kSeek ||
         benchmark.access == Access::kForward ||
         benchmark.access == Access::kBackward;
}

// True if the whole benchmark is one call on the engine.
constexpr bool IsOneCall(const Benchmark& benchmark) {
  return benchmark.access == Access::kForward ||
         benchmark.access == Access::kBackward ||
         benchmark.kind == Kind::kCompact || benchmark.kind == Kind::kVerify;
}

// True if all operations of the benchmark are writes.
constexpr bool IsWriting(const Benchmark& benchmark) {
  return benchmark.kind == Kind::kWrite || benchmark.kind == Kind::kDelete;
}

// True if the benchmark starts with a new database.
constexpr bool IsFresh(const Benchmark& benchmark) {
  return benchmark.prepare == Prepare::kFresh &&
         benchmark.kind != Kind::kPrimitive;
}

// True if the benchmark leaves another database than it finds.
constexpr bool Changes(const Benchmark& benchmark) {
  return IsWriting(benchmark) || benchmark.kind == Kind::kMix ||
         benchmark.writer;
}

// True if the benchmark takes one key after another in its key order.
constexpr bool DrawsKeys(const Benchmark& benchmark) {
  return IsWriting(benchmark) ||
         (benchmark.kind == Kind::kRead && !IsOneCall(benchmark));
}

// True if the operations of the benchmark are of types drawn by chance.
constexpr bool IsMix(const Benchmark& benchmark) {
  return benchmark.kind == Kind::kMix;
}

std::string_view KindName(Kind kind);
std::string_view PrepareName(Prepare prepare);

// How much of what it asks for the benchmark finds in a filled database: "all"
// or "none" of the operations of a read, "some" where that is no question.
std::string_view FindsName(const Benchmark& benchmark);

}  // namespace kvmatrix

#endif  // COMMON_SPEC_BENCHMARK_H_
