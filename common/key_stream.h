// The keys that one benchmark takes, in order.

#ifndef COMMON_KEY_STREAM_H_
#define COMMON_KEY_STREAM_H_

#include <cstdint>

#include "common/benchmark.h"
#include "common/permutation.h"
#include "common/random.h"

namespace kvmatrix {

// Endless for random orders; kSequential and kUnique wrap after `key_space`
// keys.
class KeyStream {
 public:
  // Keys from [0, key_space).  REQUIRES: 0 < key_space <= kMaxKeys
  KeyStream(KeyOrder order, uint64_t key_space, uint64_t seed)
      : order_(order),
        key_space_(order == KeyOrder::kHot ? (key_space + 99) / 100
                                           : key_space),
        random_(seed),
        permutation_(key_space_, seed) {}

  uint64_t Next() {
    if (order_ == KeyOrder::kUniform || order_ == KeyOrder::kHot) {
      return random_.Uniform(key_space_);
    }
    const uint64_t index = position_;
    if (++position_ == key_space_) position_ = 0;
    return order_ == KeyOrder::kUnique ? permutation_(index) : index;
  }

 private:
  const KeyOrder order_;
  const uint64_t key_space_;
  uint64_t position_ = 0;
  Random random_;
  Permutation permutation_;
};

}  // namespace kvmatrix

#endif  // COMMON_KEY_STREAM_H_
