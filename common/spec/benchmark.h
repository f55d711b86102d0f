// The table of benchmarks: one named workload each, with db_bench's names.
//
// A Benchmark is constant data.  What it means under the flags of a run is
// computed by quantities.h; which loop runs it follows from its kind alone
// (loops/parallel_run.h).
//
// Everything here is constant or a pure function: thread-safe.  Names that are
// returned are interfaces (--describe, result lines) and valid forever.

#ifndef COMMON_SPEC_BENCHMARK_H_
#define COMMON_SPEC_BENCHMARK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kvmatrix {

// What a benchmark does, which selects its loop.  The header of the loop has
// the details.
enum class Kind {
  kWrite,      // puts, in batches
  kRead,       // gets, seeks or one scan; see Access
  kDelete,     // deletes, in batches
  kCompact,    // Database::Compact(), once
  kVerify,     // the audit: reads and compares everything
  kMix,        // --reads operations, of types drawn at random
  kPrimitive,  // a function of the engine's library; no database is involved
};

// The state of the database that a benchmark starts from.  The executable
// creates a fresh one; a filled one is what earlier benchmarks or processes
// have left (see Benchmark::fill).
enum class Prepare {
  kFresh,      // empty, newly created
  kFilled,     // filluniquerandom, settled, closed, opened in a new process
  kUnsettled,  // filluniquerandom, flushed, closed, opened in a new process
};

// The order in which a benchmark visits its keys.  stream/key_stream.h draws
// it.
enum class KeyOrder {
  kSequential,   // 0, 1, 2, ...
  kUniform,      // independent draws: some keys twice, some never
  kUnique,       // every key once, in random order
  kHot,          // uniform over the first hundredth of the keys
  kZipf,         // by Zipf's law, its ranks scattered over the keys
  kYcsbZipf,     // as YCSB's request distribution "zipfian"; see zipf.h
  kLatest,       // by Zipf's law: the highest key is the most frequent
  kYcsbLatest,   // the same as YCSB draws it; see GrayZipf
  kHotspot,      // a part of the keys has a part of the draws; see Hotspot
  kExponential,  // the highest key is the most frequent; see Exponential
  kSteps,        // each 0 to 99 past the last, wrapping around
};

// The steps of kSteps are below this.
inline constexpr uint64_t kMaxStep = 100;

// True if some keys are drawn more often than others, by a law over all keys.
// (kHot is uniform over a part of the keys.)
constexpr bool IsSkewed(KeyOrder order) {
  return order >= KeyOrder::kZipf && order <= KeyOrder::kExponential;
}

// Returns how many of `keys` keys kHot draws from: the first hundredth, at
// least one.
constexpr uint64_t HotKeys(uint64_t keys) { return (keys + 99) / 100; }

// The name of each KeyOrder, in the order of the enumerators.
std::span<const std::string_view> KeyOrderNames();
std::string_view KeyOrderName(KeyOrder order);

// Returns the order called `name` by --key_distribution, or nothing.  kSteps
// has no such name: only seekordered uses it.
std::optional<KeyOrder> FindKeyOrder(std::string_view name);

// How a read benchmark reads.  A get of an absent key asks for a key that is
// one byte short; a seek visits the first entry at or after a key; kForward and
// kBackward scan from one end.  kNone for other kinds.
enum class Access { kNone, kGet, kGetAbsent, kSeek, kForward, kBackward };

// One row of the table.  Zeros and defaults mean "as the flags say".  Rows live
// as long as the process.
struct Benchmark {
  std::string_view name;
  Kind kind;
  Prepare prepare = Prepare::kFilled;
  KeyOrder key_order = KeyOrder::kUniform;
  Access access = Access::kNone;
  uint64_t num_divisor = 1;   // divides --num, or --reads of a read benchmark
  uint64_t value_size = 0;    // bytes; 0: --value_size
  uint64_t batch_size = 0;    // entries per batch; 0: --batch_size
  uint64_t operations = 0;    // of a kPrimitive, whose number is fixed
  bool sync = false;          // durable whatever --durability says
  bool writer = false;        // one more thread overwrites while others read
  bool digests_only = false;  // a kVerify compares sums, and gets nothing
  std::string_view fill = "filluniquerandom";  // prepares its database
  std::string_view title;                      // for charts
  std::string_view summary;                    // one line for --help
};

// All benchmarks, in the order of --help.
std::span<const Benchmark> AllBenchmarks();

// Returns the benchmark called `name`, or null if there is none.  Valid
// forever.
const Benchmark* FindBenchmark(std::string_view name);

// True if the timed part is a single call on the engine, which has no rate: a
// scan from one end, a compaction, an audit.
constexpr bool IsOneCall(const Benchmark& benchmark) {
  return benchmark.access == Access::kForward ||
         benchmark.access == Access::kBackward ||
         benchmark.kind == Kind::kCompact || benchmark.kind == Kind::kVerify;
}

// True if every operation of the benchmark is a put or a delete.
constexpr bool IsWriting(const Benchmark& benchmark) {
  return benchmark.kind == Kind::kWrite || benchmark.kind == Kind::kDelete;
}

// True if the benchmark starts with a new, empty database.  A primitive has
// none, although its row says kFresh.
constexpr bool IsFresh(const Benchmark& benchmark) {
  return benchmark.prepare == Prepare::kFresh &&
         benchmark.kind != Kind::kPrimitive;
}

// True if the benchmark may change the database.  Then what it did must be
// known (--after) before a later process can check answers.
constexpr bool Changes(const Benchmark& benchmark) {
  return IsWriting(benchmark) || benchmark.kind == Kind::kMix ||
         benchmark.writer;
}

// True if the benchmark can be repeated in passes (--min_time): each starts
// with what the first one started with.
constexpr bool CanRepeat(const Benchmark& benchmark) {
  return benchmark.kind != Kind::kVerify && benchmark.kind != Kind::kCompact &&
         (IsFresh(benchmark) || !Changes(benchmark));
}

// True if the benchmark visits one key after another in its key order.
constexpr bool DrawsKeys(const Benchmark& benchmark) {
  return IsWriting(benchmark) ||
         (benchmark.kind == Kind::kRead && !IsOneCall(benchmark));
}

// True if the types of the operations are drawn at random.
constexpr bool IsMix(const Benchmark& benchmark) {
  return benchmark.kind == Kind::kMix;
}

// True for the mix whose shares are --mix_shares.
constexpr bool IsShareMix(const Benchmark& benchmark) {
  return benchmark.name == "mix";
}

// Names for --describe: "write", "read", ...; and of a Prepare "", "filled" or
// "unsettled".
std::string_view KindName(Kind kind);
std::string_view PrepareName(Prepare prepare);

// Which of its keys a read benchmark finds in a filled database: "all" or
// "none". "some" for any other benchmark, where the question has no fixed
// answer.
std::string_view FindsName(const Benchmark& benchmark);

}  // namespace kvmatrix

#endif  // COMMON_SPEC_BENCHMARK_H_
