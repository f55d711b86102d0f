// The key draw and the value sizes that a configuration selects.

#ifndef COMMON_STREAM_FROM_CONFIG_H_
#define COMMON_STREAM_FROM_CONFIG_H_

#include <cstdint>

#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/stream/key_draw.h"
#include "common/stream/value_sizes.h"

namespace kvmatrix {

// The bounds of value sizes, in bytes, as the flags state them: `min` may
// exceed `max` until CheckRules() of cli/rules.h has accepted them.
struct SizeBounds {
  uint64_t min, max;
};

// Returns the bounds of sizes that vary.  Unset bounds (0) are derived from the
// mean m = --value_size:
//
//   uniform  1 to 2m - 1
//   normal   m/4 (rounded up) to 7m/4
//   pareto   1 to 32m
SizeBounds SizeBoundsOf(const Config& config);

// Returns the distribution of the sizes of a benchmark's values, where
// `value_size` is its ValueSizeOf().  A benchmark with a value size of its own
// has that fixed size.  REQUIRES: SizeBoundsOf() has min <= max.
ValueSizes SizesOf(const Config& config, uint64_t value_size);

// Returns how the benchmark draws its keys: by `replay` unless that is null,
// else by --key_distribution if its keys are drawn at random, else in the
// benchmark's own order.  `replay` outlives the result.
KeyDraw DrawOf(const Benchmark& benchmark, const Config& config,
               ReplayedStream* replay);

// Returns a draw in this order under the parameters of the flags.
KeyDraw DrawOf(KeyOrder order, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_STREAM_FROM_CONFIG_H_
