#include "common/mixes/mixes.h"

#include "common/mixes/graph_mix.h"
#include "common/mixes/share_mix.h"
#include "common/mixes/ycsb.h"
#include "common/mixes/ycsb_mix.h"

namespace kvmatrix {

std::vector<std::pair<Operation, std::optional<double>>> TypesOf(
    const Benchmark& benchmark) {
  using enum Operation;
  std::vector<std::pair<Operation, std::optional<double>>> types;
  const auto add = [&types](std::initializer_list<Operation> flagged) {
    for (const Operation type : flagged) types.emplace_back(type, std::nullopt);
  };
  if (const YcsbWorkload* workload = FindYcsb(benchmark.name)) {
    for (size_t type = 0; type < kOperations; ++type) {
      if (workload->weights[type] == 0) continue;
      types.emplace_back(static_cast<Operation>(type), workload->weights[type]);
    }
  } else if (IsMixgraph(benchmark)) {
    add({kGet, kPut, kSeek});
  } else if (IsShareMix(benchmark)) {
    for (const Operation type : kMixTypes) add({type});
  } else if (benchmark.kind == Kind::kMix) {
    add({kRead, kUpdate});
  }
  return types;
}

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
