#include "common/stream/key_stream.h"

namespace kvmatrix {

void KeyStream::DrawAhead() {
  next_ = 0;
  if (order_ == KeyOrder::kYcsbZipf) {
    ycsb_.Draw(random_, key_space_, ahead_);
    return;
  }
  if (order_ == KeyOrder::kHotspot) {
    for (uint64_t& key : ahead_) key = hotspot_(random_);
    return;
  }
  if (order_ == KeyOrder::kUnique) {
    for (uint64_t& key : ahead_) key = NextPosition();
  } else if (order_ == KeyOrder::kExponential) {
    for (uint64_t& rank : ahead_) rank = exponential_.Age(random_, key_space_);
  } else if (gray_) {
    for (uint64_t& rank : ahead_) rank = (*gray_)(random_);
  } else {
    ranks_.Draw(random_, ahead_);
  }
  // Here ahead_ has positions or ranks, which are now mapped to keys.  A rank
  // may be an age: 0 is then the highest key.
  if (order_ >= KeyOrder::kLatest && order_ <= KeyOrder::kExponential) {
    for (uint64_t& key : ahead_) key = key_space_ - 1 - key;
  } else {
    permutation_.Apply(ahead_);
  }
}

}  // namespace kvmatrix
