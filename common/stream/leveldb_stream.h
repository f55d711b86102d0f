// --stream=leveldb: the keys and values of LevelDB's own benchmark programs, so
// that a run can be compared with one of theirs.

#ifndef COMMON_STREAM_LEVELDB_STREAM_H_
#define COMMON_STREAM_LEVELDB_STREAM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/random/leveldb_random.h"
#include "common/spec/config.h"
#include "common/stream/leveldb_pool.h"

namespace kvmatrix {

// The block cache of LevelDB's db_bench without --cache_size, in bytes: the
// library's own default (db/db_impl.cc, SanitizeOptions).
inline constexpr uint64_t kDbBenchCacheSize = 8 << 20;

// Returns the value of --stream: "kvmatrix", "leveldb" or "leveldb-301".
std::string_view StreamName(StreamKind kind);

// What --help says of --stream.
inline constexpr char kStreamHelp[] =
    "whose keys and values are generated: kvmatrix means this program's own; "
    "leveldb means those of LevelDB 1.23's db_bench, with its generator, seeds "
    "and values; leveldb-301 means those of its db_bench_sqlite3 and "
    "db_bench_tree_db, which use one seed for the whole run";

// Limits of a replay: keys are drawn from 31 bits, and the number of entries is
// rounded up to a thousand; values are windows of a pool of a mebibyte.
inline constexpr uint64_t kMaxReplayedKeys = 0x7fffffff - 1000;
inline constexpr uint64_t kMaxReplayedValue = 1'000'000;  // bytes

// Returns the benchmarks of the replayed programs.  REQUIRES: kind is not kOwn
std::span<const std::string_view> ReplayedBenchmarks(StreamKind kind);

// Draws what one process of LevelDB 1.23's benchmarks/db_bench.cc draws (or,
// with one seed for the whole process, its db_bench_sqlite3.cc and
// db_bench_tree_db.cc), in the same order, benchmark after benchmark of its
// list.
//
// A value is a window of the pool.  In place of a version, the oracle records
// the offset of the window plus one; two writes of a key have different records
// unless they put the same bytes.
//
// Not thread-safe: a replay has one thread.
class ReplayedStream {
 public:
  // `config` outlives the stream.  REQUIRES: config.stream is not kOwn;
  // CheckRules(config) did not throw
  explicit ReplayedStream(const Config& config);

  // The bytes that values are windows of; valid as long as the stream.
  std::string_view pool() const { return pool_.bytes(); }

  // Keys below this may be written.
  uint64_t key_space() const { return key_space_; }

  // Starts the next benchmark of the list.  Must be called for every benchmark,
  // including those that draw nothing and those that the engine at hand cannot
  // run, because the seed of a benchmark is its position in the list.  An audit
  // is not part of the list and is ignored.
  void Begin(const Benchmark& benchmark);

  // Returns the key of the next operation.
  uint64_t NextKey();

  // Returns the record of the next value: 1 + the offset of its window.
  uint32_t NextRecord() {
    return static_cast<uint32_t>(windows_.Next(value_size_)) + 1;
  }

  // Returns the number N of the program's message "(M of N found)": all
  // entries, whether or not it reads as many.  0 where it prints no such
  // message.
  uint64_t FoundOf(const Benchmark& benchmark) const;

  // Draws and discards the keys of `operations` operations, which an earlier
  // process performed.
  void Skip(uint64_t operations);

 private:
  const Config& config_;
  const LevelDbPool pool_;
  const uint64_t key_space_;
  uint32_t begun_ = 0;  // benchmarks
  LevelDbRandom random_;
  PoolWindows windows_;

  // The benchmark that has begun.
  KeyOrder order_ = KeyOrder::kSequential;
  uint32_t range_ = 1;  // random keys are drawn from [0, range_)
  uint64_t position_ = 0;
  size_t value_size_ = 0;
};

// Returns the replay that --stream selects, or null for the own stream.
std::unique_ptr<ReplayedStream> MakeReplay(const Config& config);

// Returns notes for the user on how `config.benchmarks` differ from LevelDB's
// program in the own stream: whole lines, or an empty string.
std::string DifferenceNotes(const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_STREAM_LEVELDB_STREAM_H_
