// YCSB's workloads as mixes.  Their definitions are in ycsb.h.
//
// mixes.h makes these objects; loops and replays use them as Mix.

#ifndef COMMON_MIXES_YCSB_MIX_H_
#define COMMON_MIXES_YCSB_MIX_H_

#include <memory>
#include <string>
#include <vector>

#include "common/mixes/mix_workload.h"
#include "common/mixes/ycsb.h"
#include "common/random/permutation.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Returns the bijection from records, by their ordinals, to the keys of the
// database that `oracle` describes.
Permutation YcsbOrder(const Config& config, const Oracle& oracle);

// Throws std::runtime_error, which says how to load the database, unless the
// oracle says that ycsbload has put the first `records` records, under the
// --num and --seed of `config`.  They may have been deleted since.
// REQUIRES: oracle.UseTable() was called
void RequireYcsbLoad(const Benchmark& benchmark, const Config& config,
                     const Oracle& oracle, const Permutation& order,
                     uint64_t records);

// One of the workloads A to F.  Needs a database that ycsbload has filled under
// the same --num and --seed.
//
// Records are known by their ordinals, and the oracle by keys; order_ maps one
// to the other.  What the streams of several threads share is which records
// have been inserted, and only that is written during a run.
class YcsbMix final : public Mix {
 public:
  // Gives the oracle its table.  The arguments outlive the mix.  Throws
  // std::runtime_error, which says how to load the database, if it is not such
  // a one: another key space or order of records, fewer than three of them, or
  // a load that stopped early on several threads.
  // REQUIRES: FindYcsb(benchmark.name) is not null; CheckRules(config) did not
  // throw
  YcsbMix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  // Next() throws std::runtime_error if the key space has no key left to
  // insert.  All streams may draw an inserted record once Done() has been
  // called for it and for those inserted before it; see YcsbInserts.
  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;

  // False with --writeallfields.  Otherwise an update changes one field of ten,
  // so that a store of whole values must read the record first.
  bool UpdatesGet() const override { return !config_.mix.writeallfields; }

  // The request distribution, how updates are done, and a note if --value_size
  // is not the size of YCSB's records.
  std::string Label() const override;

  // The share of each type, the share of lookups that fall on the hottest (or
  // newest) hundredth of the records, at most 100,000, and the mean scan
  // length.  Draws from streams of its own and leaves those of the run alone;
  // memory and time are bounded for any number of records.
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  // Each stream has a chooser of its own, because "latest" has state.
  YcsbChooser NewChooser() const;

  const Benchmark& benchmark_;
  const Config& config_;
  const YcsbWorkload& workload_;
  const YcsbRequest request_;
  const Permutation order_;  // from ordinals to keys, as in the load
  const uint64_t records_;   // present at the start
  YcsbInserts inserts_;      // of all threads
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_YCSB_MIX_H_
