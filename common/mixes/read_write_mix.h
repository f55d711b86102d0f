// readrandomwriterandom as a mix: gets and blind puts of keys drawn from one
// distribution.

#ifndef COMMON_MIXES_READ_WRITE_MIX_H_
#define COMMON_MIXES_READ_WRITE_MIX_H_

#include <memory>
#include <vector>

#include "common/mixes/mix_workload.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// A share of --readwritepercent of the operations are gets.
class ReadWriteMix final : public Mix {
 public:
  ReadWriteMix(const Benchmark& benchmark, const Config& config,
               Oracle& oracle);

  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;
  std::vector<Share> Shares(uint64_t, uint64_t) const override { return {}; }

 private:
  const Benchmark& benchmark_;
  const Config& config_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_READ_WRITE_MIX_H_
