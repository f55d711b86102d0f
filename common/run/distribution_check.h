// Compares what was drawn with what was requested: properties of a benchmark's
// own stream next to those that its distribution predicts.

#ifndef COMMON_RUN_DISTRIBUTION_CHECK_H_
#define COMMON_RUN_DISTRIBUTION_CHECK_H_

#include <cstdint>
#include <vector>

#include "common/loops/run_context.h"
#include "common/oracle/oracle.h"
#include "common/recording/loop_result.h"
#include "common/stream/key_draw.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Draws and values that are examined at most.
inline constexpr uint64_t kMaxDraws = 200'000;

// Returns how many of the first `draws` keys of a stream (at most kMaxDraws)
// are among the most frequent keys, for several sets of such keys.  Empty for a
// distribution in which all keys are alike.  The sets follow from the
// distribution and are not chosen from the draws.  Takes less than a second and
// 3 MB for any number of keys.  REQUIRES: draws > 0
std::vector<Share> KeyShares(const KeyDraw& draw, uint64_t key_space,
                             uint64_t stream_seed, uint64_t draws);

// Returns the shares of the keys and the sizes of a run of `operations`
// operations.  A mix that draws its keys otherwise than by one key stream
// states their shares itself.
std::vector<Share> SharesOf(const RunContext& context, uint64_t operations);

// Returns the mean, the median and the 99th percentile of the sizes of present
// values, in bytes, from at most kMaxDraws of them.  Empty if all values have
// one size.
std::vector<Share> SizeShares(const Values& values, const Oracle& oracle,
                              uint64_t stream_seed);

}  // namespace kvmatrix

#endif  // COMMON_RUN_DISTRIBUTION_CHECK_H_
