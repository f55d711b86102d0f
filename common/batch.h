// The entries of one Write(), generated in place.

#ifndef COMMON_BATCH_H_
#define COMMON_BATCH_H_

#include <span>
#include <vector>

#include "common/driver.h"
#include "common/keys.h"
#include "common/values.h"
#include "common/write_stream.h"

namespace kvmatrix {

// Buffers for `capacity` updates, allocated once.
class Batch {
 public:
  // `values` outlives the batch.
  Batch(const Values& values, size_t key_size, size_t capacity, bool deletes)
      : values_(values),
        key_size_(key_size),
        value_stride_(values.buffer_size()),
        keys_(capacity * key_size, '0'),
        bytes_(deletes ? 0 : capacity * value_stride_),
        updates_(capacity) {
    for (size_t i = 0; i < capacity; ++i) {
      updates_[i].key = {keys_.data() + i * key_size, key_size};
      if (deletes) continue;
      updates_[i].value = {bytes_.data() + i * value_stride_,
                           values.value_size()};
    }
  }

  // Makes `step` the i-th update.  REQUIRES: i < capacity
  void Set(size_t i, Step step) {
    KeyBuffer::Write(step.key, keys_.data() + (i + 1) * key_size_ - kKeyDigits);
    if (step.version == 0) return;
    values_.Write(step.key, step.version, bytes_.data() + i * value_stride_);
  }

  std::span<const Update> First(size_t count) const {
    return std::span(updates_).first(count);
  }

 private:
  const Values& values_;
  const size_t key_size_;
  const size_t value_stride_;
  std::vector<char> keys_;
  std::vector<char> bytes_;
  std::vector<Update> updates_;
};

}  // namespace kvmatrix

#endif  // COMMON_BATCH_H_
