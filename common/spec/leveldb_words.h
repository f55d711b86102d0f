// Flags and benchmarks of other programs: what they do there, and what has the
// same effect here.
//
// The programs are db_bench of LevelDB and of RocksDB, LevelDB's db_bench_*
// of other engines, and YCSB.  The tables are in leveldb_words.cc.  Pure
// functions; views are valid forever.

#ifndef COMMON_SPEC_LEVELDB_WORDS_H_
#define COMMON_SPEC_LEVELDB_WORDS_H_

#include <span>
#include <string>
#include <string_view>

namespace kvmatrix {

// Returns what is known of a flag that no executable has, without dashes: its
// effect and the equivalent; if nothing is known, the nearest of the `known`
// flags: "did you mean --num?".  Empty if none is near.
std::string AdviceOnFlag(std::string_view name,
                         std::span<const std::string> known);

// Returns the same for the name of a benchmark.
std::string AdviceOnBenchmark(std::string_view name);

}  // namespace kvmatrix

#endif  // COMMON_SPEC_LEVELDB_WORDS_H_
