// A mix as one benchmark: what its threads share, and the operations of each.

#ifndef COMMON_MIX_WORKLOAD_H_
#define COMMON_MIX_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/benchmark.h"
#include "common/config.h"
#include "common/mix.h"
#include "common/oracle.h"
#include "common/permutation.h"
#include "common/ycsb.h"

namespace kvmatrix {

// Throws UsageError if the flags make no such mix, or no database for one.
void CheckMix(const Benchmark& benchmark, const Config& config);

// What an update does, the request distribution and what else the name of a mix
// does not tell; for the line of its result.
std::string MixLabel(const Benchmark& benchmark, const Config& config);

// One run of a mix, or its replay.
//
// The oracle's final record is a function of how many operations each thread
// has done, whatever their interleaving: no workload both inserts and updates.
// Inserted is a run of ordinals, as many as the threads' own streams have
// inserts, whoever took which; and where nothing is inserted, what a thread
// updates is decided by its stream alone.
class Mix {
 public:
  // Throws std::runtime_error if the database that `oracle` records is not the
  // one that the mix needs; what() names the benchmark that fills it.  `oracle`
  // outlives the mix.
  Mix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  // The operations of the thread whose stream has this seed.
  std::unique_ptr<MixStream> NewStream(uint64_t stream_seed);

  // Records what a thread has done.
  void Replay(uint64_t stream_seed, uint64_t operations);

 private:
  void RequireLoaded() const;
  YcsbChooser NewChooser() const;

  const Benchmark& benchmark_;
  const Config& config_;
  Oracle& oracle_;
  const YcsbWorkload* const ycsb_;
  const Permutation order_;
  YcsbRequest request_ = YcsbRequest::kUniform;
  uint64_t records_ = 0;  // when the mix began
  std::optional<YcsbInserts> inserts_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIX_WORKLOAD_H_
