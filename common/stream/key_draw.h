// How a benchmark draws its keys.

#ifndef COMMON_STREAM_KEY_DRAW_H_
#define COMMON_STREAM_KEY_DRAW_H_

#include <cstdint>

#include "common/spec/benchmark.h"

namespace kvmatrix {

class ReplayedStream;

// The order, and what the orders by Zipf's law need.  All streams of a process,
// of whatever benchmark or thread, have one `scatter_seed`: the frequent keys
// of one are those of the others.
struct KeyDraw {
  // NOLINTNEXTLINE(google-explicit-constructor): most orders need no more
  constexpr KeyDraw(KeyOrder its_order, double theta = 0.99,
                    uint64_t its_scatter_seed = 0)
      : order(its_order), zipf_theta(theta), scatter_seed(its_scatter_seed) {}

  KeyOrder order;
  double zipf_theta;
  uint64_t scatter_seed;
  // Where not null, it has begun the benchmark and draws keys and values, in
  // its order; outlives what draws.
  ReplayedStream* replay = nullptr;
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_KEY_DRAW_H_
