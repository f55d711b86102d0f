#include "common/mixes/graph_mix.h"

#include <stdexcept>
#include <string>

namespace kvmatrix {
bool Swings(const Benchmark& benchmark, const Config& config) {
  return IsMixgraph(benchmark) && config.mix.mixgraph.sine_mix_rate;
}

Swing SwingOf(const Config& config) {
  constexpr uint64_t kNsPerMillisecond = 1'000'000;
  const MixgraphParameters& p = config.mix.mixgraph;
  return {
      // A Swing multiplies the mean rate, so a sin() + d becomes d (1 + a/d
      // sin()).
      .amplitude = p.sine_a / p.sine_d,
      .radians_per_s = p.sine_b,
      .phase = p.sine_c,
      .interval_ns = p.sine_mix_rate_interval_milliseconds * kNsPerMillisecond};
}

GraphMix::GraphMix(const Benchmark& benchmark, const Config& config,
                   Oracle& oracle)
    : Mix(oracle),
      parameters_(config.mix.mixgraph),
      corrected_(IsCorrectedMixgraph(benchmark)),
      keys_(oracle.key_space()) {
  if (keys_ < parameters_.keyrange_num) {
    throw std::runtime_error(
        "needs at least one key per range of --keyrange_num");
  }
  oracle.UseTable();
  if (!corrected_) oracle.UseSizes();
}

std::unique_ptr<MixStream> GraphMix::NewStream(
    uint64_t stream_seed, const ThreadShare& thread_share) {
  return Stream(thread_share.SeedOf(stream_seed));
}

std::unique_ptr<MixStream> GraphMix::Stream(uint64_t stream_seed) const {
  if (corrected_) {
    return std::make_unique<CorrectedStream>(parameters_, keys_, stream_seed);
  }
  return std::make_unique<MixgraphStream>(parameters_, keys_, stream_seed);
}

std::string GraphMix::Label() const {
  return corrected_ ? "a stream each for type, key and length; clamped"
                    : "one number for type, key, size and length";
}

std::vector<Share> GraphMix::Shares(uint64_t stream_seed,
                                    uint64_t operations) const {
  const MixgraphParameters& p = parameters_;
  const std::unique_ptr<MixStream> stream = Stream(stream_seed);
  const KeyRanges ranges(p);
  const uint64_t hottest = ranges.Hottest();
  Weights counts{};
  double in_hottest = 0, entries = 0, bytes = 0;
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream->Next();
    ++counts[static_cast<size_t>(step.operation)];
    // Keys behind the last whole range would have a number of their own, but
    // are never drawn if there are ranges.
    in_hottest += step.key / (keys_ / p.keyrange_num) == hottest;
    entries += static_cast<double>(step.scan_length);
    bytes += static_cast<double>(step.value_size.value_or(0));
  }
  const auto all = static_cast<double>(operations);
  const MixgraphStream::Means means =
      corrected_
          ? MixgraphStream::Means{MixgraphWeights(p),
                                  static_cast<double>(ranges.Hotness(hottest)) /
                                      static_cast<double>(ranges.total()),
                                  MeanScanLength(p), 0}
          : MixgraphStream(p, keys_, 0).ComputeMeans();
  std::vector<Share> shares;
  AddTypeShares(means.types, counts, shares);
  if (ranges.total() > 0 && p.key_dist_a != 0 && p.key_dist_b != 0) {
    shares.push_back({"hottest key range", in_hottest / all,
                      means.hottest_range, operations});
  }
  const double seeks = counts[static_cast<size_t>(Operation::kSeek)];
  if (seeks > 0) {
    shares.push_back(
        {"mean scan length, entries", entries / seeks, means.scan_length});
  }
  const double puts = counts[static_cast<size_t>(Operation::kPut)];
  if (puts > 0 && !corrected_) {
    shares.push_back(
        {"mean size of values put, bytes", bytes / puts, means.value_size});
  }
  return shares;
}

}  // namespace kvmatrix
