// mixgraph and mixgraph-c as mixes.  The model itself is in mixgraph.h.
//
// mixes.h makes these objects; loops and replays use them as Mix.

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
// --sine_d operations per second; SwingOf() is then the variation of that rate.
// REQUIRES, for SwingOf(): config.mix.mixgraph.sine_d > 0
bool Swings(const Benchmark& benchmark, const Config& config);
Swing SwingOf(const Config& config);

// Either variant.  Runs on a database filled by any benchmark: a get of an
// absent key must return nothing.
//
// In mixgraph the size of a value follows from the number that selected its key
// and not from its root, so the oracle records the size of each value put.
// That allows one thread only; the rules of the flags (cli/rules.cc) refuse
// more.
class GraphMix final : public Mix {
 public:
  // Gives the oracle its table and, for mixgraph, its sizes.  The arguments
  // outlive the mix.  Throws std::runtime_error if the database has fewer keys
  // than there are key ranges.
  // REQUIRES: IsMixgraph(benchmark); CheckRules(config) did not throw
  GraphMix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  // The streams share nothing.
  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;
  std::string Label() const override;
  // The share of each type, the share of the hottest key range (if there are
  // ranges, and keys are not uniform), the mean scan length and, for mixgraph,
  // the mean size of the values put.
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  // NewStream() with the seed of a thread.
  std::unique_ptr<MixStream> Stream(uint64_t stream_seed) const;

  const MixgraphParameters& parameters_;
  const bool corrected_;
  const uint64_t keys_;  // of the key space
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_GRAPH_MIX_H_
