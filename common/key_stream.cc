#include "common/key_stream.h"

namespace kvmatrix {

void KeyStream::DrawAhead() {
  turn_ = 0;
  if (order_ == KeyOrder::kYcsbZipf) {
    ycsb_.Draw(random_, key_space_, ahead_);
    return;
  }
  ranks_.Draw(random_, ahead_);
  for (uint64_t& key : ahead_) {
    key = order_ == KeyOrder::kZipf ? permutation_(key) : key_space_ - 1 - key;
  }
}

}  // namespace kvmatrix
