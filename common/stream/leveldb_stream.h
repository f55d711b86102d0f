// --stream=leveldb: the keys and values that LevelDB's own benchmark programs
// choose, so that a run can be held against theirs.

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

// Bytes of cache of LevelDB's db_bench without --cache_size: what its library
// takes by itself (db/db_impl.cc, SanitizeOptions).
inline constexpr uint64_t kDbBenchCacheSize = 8 << 20;

std::string_view StreamName(StreamKind kind);

// What --help says of --stream.
inline constexpr char kStreamHelp[] =
    "the operations: kvmatrix, this program's own; leveldb, those of LevelDB "
    "1.23's db_bench, generator, seeds and values; leveldb-301, those of its "
    "db_bench_sqlite3 and db_bench_tree_db, which have one seed for a whole "
    "run";

// Of what is replayed: its keys are 31 bits, and its values windows of a pool.
inline constexpr uint64_t kMaxReplayedKeys = 0x7fffffff - 1000;
inline constexpr uint64_t kMaxReplayedValue = 1'000'000;  // bytes

// The benchmarks of the programs that are replayed; REQUIRES: kind is not kOwn
std::span<const std::string_view> ReplayedBenchmarks(StreamKind kind);

// What one process of LevelDB 1.23's benchmarks/db_bench.cc (or, with one seed
// for all, of its db_bench_sqlite3.cc and db_bench_tree_db.cc) draws, in the
// order in which it does: benchmark after benchmark of its list.
//
// A value is a window of the pool.  The oracle records of a key, in place of a
// version, the offset of its window plus one: two writes of a key differ in
// their record unless they put the same bytes.
class ReplayedStream {
 public:
  // REQUIRES: config.stream is not kOwn; CheckRules(config) did not throw
  explicit ReplayedStream(const Config& config);

  std::string_view pool() const { return pool_.bytes(); }

  // Keys below this may be written.
  uint64_t key_space() const { return key_space_; }

  // Starts the next benchmark of the list.  Every one of them counts, also one
  // that draws nothing, or that the engine at hand cannot do.
  void Begin(const Benchmark& benchmark);

  // The key of the next operation.
  uint64_t NextKey();

  // The record of the next value written: 1 + the offset of its window.
  uint32_t NextRecord() {
    return static_cast<uint32_t>(windows_.Next(value_size_)) + 1;
  }

  // What the program prints a count of found keys as a part of: all entries, as
  // many as it reads or not; 0 where it prints none.
  uint64_t FoundOf(const Benchmark& benchmark) const;

  // Draws what `operations` of the benchmark that was begun draw, and drops it:
  // a read that an earlier process made.
  void Skip(uint64_t operations);

 private:
  const Config& config_;
  const LevelDbPool pool_;
  const uint64_t key_space_;
  uint32_t begun_ = 0;  // benchmarks
  LevelDbRandom random_;
  PoolWindows windows_;

  // Of the benchmark that was begun:
  KeyOrder order_ = KeyOrder::kSequential;
  uint32_t range_ = 1;  // random keys are drawn from [0, range_)
  uint64_t position_ = 0;
  size_t value_size_ = 0;
};

// The replay that the configuration asks for, or null for the own stream.
std::unique_ptr<ReplayedStream> MakeReplay(const Config& config);

// What `config.benchmarks` mean in the own stream and did not in LevelDB's
// program, for people: lines that end in a newline, or nothing.
std::string DifferenceNotes(const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_STREAM_LEVELDB_STREAM_H_
