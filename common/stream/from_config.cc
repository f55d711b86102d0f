#include "common/stream/from_config.h"

#include "common/random/random.h"

namespace kvmatrix {

ValueSizes SizesOf(const Config& config, uint64_t value_size) {
  const SizeLaw law = config.value_size_law;
  if (law == SizeLaw::kFixed || value_size != config.value_size) {
    return value_size;
  }
  const auto or_else = [](uint64_t bound, uint64_t derived) {
    return bound == 0 ? derived : bound;
  };
  const uint64_t min = config.value_size_min, max = config.value_size_max;
  if (law == SizeLaw::kUniform) {
    return ValueSizes::Uniform(or_else(min, 1),
                               or_else(max, 2 * value_size - 1));
  }
  if (law == SizeLaw::kNormal) {
    const uint64_t least = (value_size + 3) / 4;
    return ValueSizes::Normal(or_else(min, least),
                              or_else(max, 2 * value_size - least));
  }
  const auto& [k, sigma] = config.pareto;
  return ValueSizes::Pareto(
      or_else(min, 1), or_else(max, 32 * value_size), k,
      sigma > 0 ? sigma : static_cast<double>(value_size) * (1 - k));
}

KeyDraw DrawOf(const Benchmark& benchmark, const Config& config,
               ReplayedStream* replay) {
  KeyOrder order = benchmark.key_order;
  if (order == KeyOrder::kUniform && !config.key_distribution.empty()) {
    order = FindKeyOrder(config.key_distribution).value();
  }
  KeyDraw draw(order, config.zipf_theta, StreamSeed(config.seed, "scatter", 0));
  draw.replay = replay;
  return draw;
}

}  // namespace kvmatrix
