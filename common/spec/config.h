// What one executable was asked to do, and what follows from it.

#ifndef COMMON_SPEC_CONFIG_H_
#define COMMON_SPEC_CONFIG_H_

#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/spec/benchmark.h"
#include "common/spec/key_shape.h"
#include "common/spec/mixgraph_parameters.h"
#include "common/spec/size_law.h"

namespace kvmatrix {

// Whose operations are run.
enum class StreamKind {
  kOwn,             // this program's
  kDbBench,         // those of the db_bench that started it all
  kDbBenchOneSeed,  // those of its two siblings
};

// The command line is wrong; what() names the flag and what it accepts.
class UsageError : public std::runtime_error {
 public:
  UsageError(const std::string& flag, const std::string& problem)
      : std::runtime_error("--" + flag + ": " + problem) {}
  explicit UsageError(const std::string& problem)
      : std::runtime_error(problem) {}
};

inline constexpr uint64_t kMaxThreads = 256;
inline constexpr uint64_t kMaxBatchEntries = 1'000'000;

// A benchmark that the database has been through, and how far it went.
struct AppliedBenchmark {
  const Benchmark* benchmark;
  std::vector<uint64_t> operations;  // of each thread that may have written
};

struct Config {
  std::vector<const Benchmark*> benchmarks;
  std::vector<AppliedBenchmark> after;

  uint64_t num = 1'000'000;    // entries of a whole database
  uint64_t reads = 1'000'000;  // operations of a read benchmark
  uint64_t key_size = 16;      // bytes
  KeyFormat key_format = KeyFormat::kDecimal;
  std::string key_distribution;  // of keys drawn at random; "": uniform
  double zipf_theta = 0.99;
  uint64_t value_size = 100;  // bytes
  SizeLaw value_size_law = SizeLaw::kFixed;
  uint64_t value_size_min = 0;     // bytes; 0: see SizesOf()
  uint64_t value_size_max = 0;     // bytes; 0: see SizesOf()
  double compression_ratio = 0.5;  // of a value, by a simple compressor
  uint64_t batch_size = 1;         // entries in one Write()
  uint64_t transactions = 0;       // so many batches; 0: see batch_size
  uint64_t cache_size = 4 << 20;   // bytes
  bool compression = true;
  bool sync = false;
  bool settle = true;
  uint64_t seed = 301;
  StreamKind stream = StreamKind::kOwn;
  uint64_t threads = 1;            // sessions that run at once
  uint64_t writes_per_second = 0;  // of the one writer; 0: as fast as it goes
  uint64_t readwritepercent = 90;  // of readrandomwriterandom: share of gets
  uint64_t duration_ns = 0;        // of one benchmark's loop; 0: no limit

  bool use_existing_db = false;
  bool crash = false;  // end as kill -9 does once the last benchmark flushed
  bool histogram = false;       // time each call
  double rate_ops_per_sec = 0;  // of an open loop; 0: closed loop
  struct {
    // An update of YCSB writes a whole record and reads nothing; else it writes
    // one field of ten, which a store of whole values must read first.
    bool writeallfields = false;
    MixgraphParameters mixgraph;
  } mix;
  struct {
    double k = 0.2615;
    double sigma = 0;              // 0: such that the mean is --value_size
  } pareto;                        // of value sizes
  std::filesystem::path db;        // the directory that holds the database
  std::filesystem::path json;      // measurements are appended; empty: none
  std::filesystem::path progress;  // see progress.h; empty: none
  std::set<std::string, std::less<>> set_flags;  // flags on the command line

  KeyShape key_shape() const { return {key_size, key_format}; }
};

}  // namespace kvmatrix

#endif  // COMMON_SPEC_CONFIG_H_
