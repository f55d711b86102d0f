// Whether what was drawn is what was asked for: shares of a benchmark's own
// stream beside those that its distribution predicts.

#ifndef COMMON_RUN_DISTRIBUTION_CHECK_H_
#define COMMON_RUN_DISTRIBUTION_CHECK_H_

#include <cstdint>
#include <vector>

#include "common/oracle/oracle.h"
#include "common/recording/loop_result.h"
#include "common/stream/key_draw.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Draws and values that are looked at, at most.
inline constexpr uint64_t kMaxDraws = 200'000;

// Of the first `draws` keys of the stream with this seed, or of kMaxDraws of
// them: how many are among the most frequent keys.  Nothing where all keys are
// alike.  Which keys these are is known beforehand, not taken from the draws.
// Takes less than a second and 3 MB, whatever the number of keys.
// REQUIRES: draws > 0
std::vector<Share> KeyShares(const KeyDraw& draw, uint64_t key_space,
                             uint64_t stream_seed, uint64_t draws);

// Sizes of present values, kMaxDraws of them if there are more, in bytes:
// their mean, median and 99th percentile.  Nothing if all have one size.
std::vector<Share> SizeShares(const Values& values, const Oracle& oracle,
                              uint64_t stream_seed);

}  // namespace kvmatrix

#endif  // COMMON_RUN_DISTRIBUTION_CHECK_H_
