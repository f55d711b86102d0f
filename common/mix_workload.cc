#include "common/mix_workload.h"

#include <numeric>

#include "common/graph_mix.h"
#include "common/read_write_mix.h"
#include "common/ycsb_mix.h"

namespace kvmatrix {

std::string MixLabel(const Benchmark& benchmark, const Config& config) {
  if (IsYcsb(benchmark)) return YcsbLabel(benchmark, config);
  return IsMixgraph(benchmark) ? GraphLabel(benchmark) : "";
}

std::unique_ptr<Mix> Mix::Make(const Benchmark& benchmark, const Config& config,
                               Oracle& oracle) {
  if (IsYcsb(benchmark)) {
    return std::make_unique<YcsbMix>(benchmark, config, oracle);
  }
  if (IsMixgraph(benchmark)) {
    return std::make_unique<GraphMix>(benchmark, config, oracle);
  }
  return std::make_unique<ReadWriteMix>(benchmark, config, oracle);
}

void AddTypeShares(const Weights& weights, const Weights& counts,
                   std::vector<Share>& shares) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (size_t type = 0; type < kOperations; ++type) {
    if (weights[type] == 0 || all == 0) continue;
    const std::string name(OperationName(static_cast<Operation>(type)));
    shares.push_back(
        {name + " of all operations", counts[type] / all, weights[type]});
  }
}

void Mix::Replay(uint64_t stream_seed, const Part& part, uint64_t operations) {
  const std::unique_ptr<MixStream> stream = NewStream(stream_seed, part);
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream->Next();
    if (!Puts(step.operation)) continue;
    oracle_.Put(step.key);
    if (step.value_size) oracle_.SetSize(step.key, *step.value_size);
    stream->Done(step);
  }
}

}  // namespace kvmatrix
