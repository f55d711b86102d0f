#include "common/stream/from_config.h"

#include "common/random/random.h"
#include "common/spec/quantities.h"

namespace kvmatrix {

SizeBounds SizeBoundsOf(const Config& config) {
  const uint64_t mean = config.value_size;
  SizeBounds derived{1, 32 * mean};
  if (config.value_size_law == SizeLaw::kUniform) derived = {1, 2 * mean - 1};
  if (config.value_size_law == SizeLaw::kNormal) {
    const uint64_t quarter = (mean + 3) / 4;
    derived = {quarter, 2 * mean - quarter};
  }
  const uint64_t min = config.value_size_min, max = config.value_size_max;
  return {min == 0 ? derived.min : min, max == 0 ? derived.max : max};
}

ValueSizes SizesOf(const Config& config, uint64_t value_size) {
  const SizeLaw law = config.value_size_law;
  if (law == SizeLaw::kFixed || value_size != config.value_size) {
    return value_size;
  }
  const auto [min, max] = SizeBoundsOf(config);
  if (law == SizeLaw::kUniform) return ValueSizes::Uniform(min, max);
  if (law == SizeLaw::kNormal) return ValueSizes::Normal(min, max);
  const auto& [k, sigma] = config.pareto;
  return ValueSizes::Pareto(
      min, max, k,
      sigma > 0 ? sigma : static_cast<double>(value_size) * (1 - k));
}

KeyDraw DrawOf(const Benchmark& benchmark, const Config& config,
               ReplayedStream* replay) {
  KeyOrder order = benchmark.key_order;
  if (order == KeyOrder::kUniform && !config.key_distribution.empty()) {
    order = FindKeyOrder(config.key_distribution).value();
  } else if (order == KeyOrder::kUnique && InsertsInOrder(benchmark, config)) {
    order = KeyOrder::kSequential;
  }
  KeyDraw draw = DrawOf(order, config);
  draw.replay = replay;
  return draw;
}

KeyDraw DrawOf(KeyOrder order, const Config& config) {
  KeyDraw draw(order, config.zipf_theta, StreamSeed(config.seed, "scatter", 0));
  draw.hotspot = config.hotspot;
  draw.exponential = config.exponential;
  return draw;
}

}  // namespace kvmatrix
