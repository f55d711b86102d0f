#include "common/stream/key_stream.h"

namespace kvmatrix {

void KeyStream::DrawAhead() {
  next_ = 0;
  if (order_ == KeyOrder::kYcsbZipf) {
    ycsb_.Draw(random_, key_space_, ahead_);
    return;
  }
  if (order_ == KeyOrder::kUnique) {
    for (uint64_t& key : ahead_) key = NextPosition();
  } else {
    ranks_.Draw(random_, ahead_);
  }
  // Here ahead_ has positions or ranks, which are now mapped to keys.
  if (order_ == KeyOrder::kLatest) {
    for (uint64_t& key : ahead_) key = key_space_ - 1 - key;
  } else {
    permutation_.Apply(ahead_);
  }
}

}  // namespace kvmatrix
