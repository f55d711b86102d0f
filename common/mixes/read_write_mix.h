// readrandomwriterandom as a mix: gets and blind puts of keys drawn from one
// distribution.
//
// mixes.h makes these objects; loops and replays use them as Mix.

#ifndef COMMON_MIXES_READ_WRITE_MIX_H_
#define COMMON_MIXES_READ_WRITE_MIX_H_

#include <memory>
#include <vector>

#include "common/mixes/mix_workload.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// --readwritepercent % of the operations are gets (Operation::kRead) and the
// others puts that read nothing (kUpdate).  Both draw their keys from
// the benchmark's distribution, or from that of --key_distribution, over the
// whole key space: in a database that is not full, some gets must find nothing.
class ReadWriteMix final : public Mix {
 public:
  // Gives the oracle its table, and accepts a database filled by any benchmark.
  // The arguments outlive the mix.
  ReadWriteMix(const Benchmark& benchmark, const Config& config,
               Oracle& oracle);

  // A stream draws its keys 32 operations ahead, to prefetch their entries in
  // the oracle.
  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;

  // None: the runner adds no shares of the keys of a mix either.
  std::vector<Share> Shares(uint64_t, uint64_t) const override { return {}; }

 private:
  const Benchmark& benchmark_;
  const Config& config_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_READ_WRITE_MIX_H_
