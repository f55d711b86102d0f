// The keys and values that a configuration selects.

#ifndef COMMON_STREAM_FROM_CONFIG_H_
#define COMMON_STREAM_FROM_CONFIG_H_

#include <cstdint>

#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/stream/key_draw.h"
#include "common/stream/value_sizes.h"

namespace kvmatrix {

// How large the values are that a benchmark of ValueSizeOf() `value_size`
// writes.  Bounds that are 0 are around --value_size: from 1 to twice as many
// less one byte if uniform, three times a quarter of it to either side if
// normal, from 1 to 32 times as many if pareto.  A benchmark that has a size of
// its own has no other.
ValueSizes SizesOf(const Config& config, uint64_t value_size);

// How the benchmark draws its keys: by --key_distribution, if it draws them at
// random; or as `replay` does, unless that is null.
KeyDraw DrawOf(const Benchmark& benchmark, const Config& config,
               ReplayedStream* replay);

}  // namespace kvmatrix

#endif  // COMMON_STREAM_FROM_CONFIG_H_
