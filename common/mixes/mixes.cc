#include "common/mixes/mixes.h"

#include "common/mixes/graph_mix.h"
#include "common/mixes/share_mix.h"
#include "common/mixes/ycsb.h"
#include "common/mixes/ycsb_mix.h"

namespace kvmatrix {

std::unique_ptr<Mix> MakeMix(const Benchmark& benchmark, const Config& config,
                             Oracle& oracle) {
  if (IsYcsb(benchmark)) {
    return std::make_unique<YcsbMix>(benchmark, config, oracle);
  }
  if (IsMixgraph(benchmark)) {
    return std::make_unique<GraphMix>(benchmark, config, oracle);
  }
  return std::make_unique<ShareMix>(benchmark, config, oracle);
}

}  // namespace kvmatrix
