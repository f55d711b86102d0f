#include "common/mixes/mix.h"

namespace kvmatrix {

OperationChooser::OperationChooser(const Weights& weights, uint64_t stream_seed)
    : random_(stream_seed) {
  constexpr uint64_t kOne = uint64_t{1} << 63;
  double end = 0;
  size_t last = 0;
  for (size_t type = 0; type < kOperations; ++type) {
    if (weights[type] > 0) last = type;
    end += weights[type];
    ends_[type] = end >= 1 ? kOne : static_cast<uint64_t>(end * 0x1p63);
  }
  // The weights may add up to slightly less than 1; the remainder goes to the
  // last type with a weight.
  for (size_t type = last; type < kOperations; ++type) ends_[type] = kOne;
}

}  // namespace kvmatrix
