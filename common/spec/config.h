// The options of one process, as plain data.
//
// Config is filled by cli/flags.h, which also checks it, and does not change
// afterwards: any number of threads may read it.  What follows from it is
// computed elsewhere: amounts of work in quantities.h, keys and value sizes in
// stream/from_config.h, the key space in mixes/key_space.h.

#ifndef COMMON_SPEC_CONFIG_H_
#define COMMON_SPEC_CONFIG_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/driver.h"
#include "common/random/skewed_draws.h"
#include "common/spec/benchmark.h"
#include "common/spec/key_shape.h"
#include "common/spec/mixgraph_parameters.h"
#include "common/spec/operation.h"
#include "common/spec/size_law.h"

namespace kvmatrix {

// The program whose operations are run; set by --stream.
enum class StreamKind {
  kOwn,             // this program's own
  kDbBench,         // that of the original db_bench
  kDbBenchOneSeed,  // that of its two siblings, with one seed per process
};

// The command line is wrong.  what() names the flag and what it accepts; the
// process ends with status 2.  Thrown before anything is measured.
class UsageError : public std::runtime_error {
 public:
  // `flag` has no dashes: they are added.
  UsageError(const std::string& flag, const std::string& problem)
      : std::runtime_error("--" + flag + ": " + problem) {}
  // `lines` say more, each on a line of its own.
  explicit UsageError(const std::string& problem,
                      std::vector<std::string> lines = {})
      : std::runtime_error(problem), lines_(std::move(lines)) {}

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

// Limits of --threads and of --batch_size.
inline constexpr uint64_t kMaxThreads = 256;
inline constexpr uint64_t kMaxBatchEntries = 1'000'000;

// A benchmark already run on an existing database, as --after lists it.
struct AppliedBenchmark {
  const Benchmark* benchmark;
  // Completed, by each thread that writes (in a replayed stream also by the
  // one of a benchmark that reads): at least one element, those of
  // RunResult::operations_by_thread of that run.
  std::vector<uint64_t> operations;
};

// Unless its comment says otherwise, a field has the meaning and the default of
// the flag of the same name; see --help.  Ranges are those
// of cli/flag_table.cc; combinations have been checked by cli/rules.h.
struct Config {
  std::vector<const Benchmark*> benchmarks;  // to run, in this order
  std::set<size_t> warm_ups;  // positions in it whose results do not count
  // Of a benchmark that is repeated: the position of its last result, and how
  // many there are.
  std::map<size_t, size_t> repeats;
  // What was run on the database before, in order.  Empty exactly if
  // use_existing_db is false: the process then starts with no database.
  std::vector<AppliedBenchmark> after;

  uint64_t num = 1'000'000;    // entries of a whole database
  uint64_t reads = 1'000'000;  // operations of a read benchmark
  // There is a --duration and no --reads: see EndsByTime().
  bool ends_by_time = false;
  uint64_t key_size = 16;  // bytes
  KeyFormat key_format = KeyFormat::kDecimal;
  std::string key_distribution;  // "": as each benchmark says
  double zipf_theta = 0.99;
  HotspotFractions hotspot;
  ExponentialAges exponential;
  uint64_t value_size = 100;  // bytes
  SizeLaw value_size_law = SizeLaw::kFixed;
  uint64_t value_size_min = 0;     // bytes; 0: see SizesOf()
  uint64_t value_size_max = 0;     // bytes; 0: see SizesOf()
  double compression_ratio = 0.5;  // of a value, by a simple compressor
  uint64_t batch_size = 1;         // entries in one Write()
  uint64_t transactions = 0;       // number of batches; 0: see batch_size
  uint64_t cache_size = 4 << 20;   // bytes
  bool compression = true;
  // Of all benchmarks except those that are synchronous; see DurabilityOf().
  Durability durability = Durability::kBuffered;
  bool settle = true;
  uint64_t seed = 301;
  StreamKind stream = StreamKind::kOwn;
  uint64_t threads = 1;            // that run a loop at once
  uint64_t writes_per_second = 0;  // by Benchmark::writer; 0: unlimited
  uint64_t readwritepercent = 90;  // gets of readrandomwriterandom, in %
  uint64_t seek_nexts = 0;  // entries that a seek reads after the one it finds
  bool reverse_iterator = false;  // ... or before it
  uint64_t duration_ns = 0;       // time limit of a loop; 0: none
  uint64_t min_time_ns = 0;       // repeat benchmarks for it; 0: run once
  uint64_t passes = 0;            // ... in so many passes instead; 0: for it
  uint64_t warmup_ns = 0;         // before the loops of WarmsUp()

  bool use_existing_db = false;
  bool watch_idle = false;      // for long after settling; see kLongIdleNs
  bool crash = false;           // kill this process after the last flush
  bool histogram = false;       // time each call
  double rate_ops_per_sec = 0;  // of an open loop; 0: closed loop
  double rate_share = 0;        // the same, of the rate of the warm-up; 0: none
  struct {
    // True: an update of YCSB writes a whole record and reads nothing.  False:
    // it writes one field of several, so that a store of whole values must
    // read the record first.
    bool writeallfields = false;
    // Fields of a record; 0: ten in YCSB's workloads, one in mix.
    uint64_t fieldcount = 0;
    std::string insert_order = "hashed";  // or "ordered"
    std::string mix_shares = "read:50,update:50";
    Weights shares = {0.5, 0.5};  // the same as fractions, by Operation
    uint64_t scan_length = 100;   // entries of each scan of mix
    // If the maximum is not 0, the length of each scan of mix is drawn.
    uint64_t min_scan_length = 1;
    uint64_t max_scan_length = 0;
    std::string scan_length_distribution = "uniform";  // or "zipf"
    MixgraphParameters mixgraph;
  } mix;
  struct {
    double k = 0.2615;
    double sigma = 0;              // 0: chosen so that the mean is value_size
  } pareto;                        // of value sizes
  std::filesystem::path db;        // the directory that holds the database
  std::filesystem::path json;      // file to append results to; empty: none
  std::filesystem::path progress;  // see timing/progress.h; empty: none
  std::filesystem::path device_stat;  // see timing/device.h; empty: none
  // Names of the flags on the command line, even if set to their defaults.
  std::set<std::string, std::less<>> set_flags;

  // The shape of all keys of the run.
  KeyShape key_shape() const { return {key_size, key_format}; }
};

}  // namespace kvmatrix

#endif  // COMMON_SPEC_CONFIG_H_
