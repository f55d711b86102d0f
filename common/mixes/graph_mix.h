// mixgraph and mixgraph-c as mixes.  The model itself is in mixgraph.h.

#ifndef COMMON_MIXES_GRAPH_MIX_H_
#define COMMON_MIXES_GRAPH_MIX_H_

#include <memory>
#include <string>
#include <vector>

#include "common/mixes/mix_workload.h"
#include "common/mixes/mixgraph.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/timing/open_loop.h"

namespace kvmatrix {

// True for both variants.
constexpr bool IsMixgraph(const Benchmark& benchmark) {
  return benchmark.name.starts_with("mixgraph");
}

// True for mixgraph-c, whose decisions are independent of each other.
constexpr bool IsCorrectedMixgraph(const Benchmark& benchmark) {
  return benchmark.name == "mixgraph-c";
}

// True if --sine_mix_rate makes the benchmark an open loop whose mean rate is
// --sine_d; SwingOf() is then the variation of that rate.
bool Swings(const Benchmark& benchmark, const Config& config);
Swing SwingOf(const Config& config);

// Runs over a database of any fill: a get of an absent key must return nothing.
class GraphMix final : public Mix {
 public:
  // REQUIRES: IsMixgraph(benchmark)
  GraphMix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;
  std::string Label() const override;
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  std::unique_ptr<MixStream> Stream(uint64_t stream_seed) const;

  const MixgraphParameters& parameters_;
  const bool corrected_;
  const uint64_t keys_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_GRAPH_MIX_H_
