// YCSB's workloads as mixes.  Their definitions are in ycsb.h.

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

// Needs a database that ycsbload has filled under the same --num and --seed.
class YcsbMix final : public Mix {
 public:
  // Throws std::runtime_error if the database is not such a one.  REQUIRES:
  // FindYcsb(benchmark.name) is not null
  YcsbMix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;
  bool UpdatesGet() const override { return !config_.mix.writeallfields; }
  std::string Label() const override;
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  void RequireLoaded() const;
  YcsbChooser NewChooser() const;

  const Benchmark& benchmark_;
  const Config& config_;
  const YcsbWorkload& workload_;
  const YcsbRequest request_;
  const Permutation order_;
  const uint64_t records_;  // present at the start
  YcsbInserts inserts_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_YCSB_MIX_H_
