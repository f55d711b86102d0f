// How a benchmark draws its keys: the order and its parameters.

#ifndef COMMON_STREAM_KEY_DRAW_H_
#define COMMON_STREAM_KEY_DRAW_H_

#include <cstdint>

#include "common/random/skewed_draws.h"
#include "common/spec/benchmark.h"

namespace kvmatrix {

class ReplayedStream;

// A value type.  Every stream of a process has the same `scatter_seed`,
// whatever its benchmark or thread, so that the frequent keys of one stream are
// the frequent keys of the others.  stream/from_config.h makes it from the
// flags.
struct KeyDraw {
  // NOLINTNEXTLINE(google-explicit-constructor): most orders need no more
  constexpr KeyDraw(KeyOrder its_order, double theta = 0.99,
                    uint64_t its_scatter_seed = 0)
      : order(its_order), zipf_theta(theta), scatter_seed(its_scatter_seed) {}

  KeyOrder order;
  double zipf_theta;      // exponent of kZipf and kLatest; others ignore it
  uint64_t scatter_seed;  // selects which keys kZipf makes frequent
  HotspotFractions hotspot;
  ExponentialAges exponential;
  // If not null, keys and values come from this replayed program, which has
  // begun the benchmark; it outlives everything that draws from it.
  ReplayedStream* replay = nullptr;
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_KEY_DRAW_H_
