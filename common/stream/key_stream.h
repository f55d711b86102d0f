// The keys that one benchmark takes, in order.

#ifndef COMMON_STREAM_KEY_STREAM_H_
#define COMMON_STREAM_KEY_STREAM_H_

#include <array>
#include <cstdint>

#include "common/random/permutation.h"
#include "common/random/random.h"
#include "common/random/thread_share.h"
#include "common/random/zipf.h"
#include "common/spec/benchmark.h"
#include "common/stream/key_draw.h"
#include "common/stream/leveldb_stream.h"

namespace kvmatrix {

// Endless for random orders; kSequential and kUnique wrap after `key_space`
// keys.  Holds 34 KiB at most, however many keys there are.
//
// Of several threads each takes every so manieth key of kSequential and of
// kUnique, whose seed they have in common; of random orders each has a stream
// by a seed of its own.
class KeyStream {
 public:
  // Keys from [0, key_space).  REQUIRES: 0 < key_space <= kMaxKeys
  KeyStream(const KeyDraw& draw, uint64_t key_space, uint64_t seed,
            const ThreadShare& thread_share = {})
      : order_(draw.replay == nullptr ? draw.order : KeyOrder::kSequential),
        key_space_(order_ == KeyOrder::kHot ? HotKeys(key_space) : key_space),
        stride_(thread_share.threads),
        position_(thread_share.thread % key_space_),
        random_(thread_share.SeedOf(seed)),
        permutation_(key_space_,
                     order_ == KeyOrder::kZipf ? draw.scatter_seed : seed),
        ranks_(key_space_, draw.zipf_theta),
        replay_(draw.replay) {}

  uint64_t Next() {
    if (order_ == KeyOrder::kUniform || order_ == KeyOrder::kHot) {
      return random_.Uniform(key_space_);
    }
    if (IsSkewed(order_) || order_ == KeyOrder::kUnique) return NextAhead();
    if (order_ == KeyOrder::kSteps) {
      position_ += random_.Uniform(kMaxStep);
      return position_ %= key_space_;
    }
    if (replay_ != nullptr) return replay_->NextKey();
    return NextPosition();
  }

 private:
  // Keys that take long to draw are drawn together, step by step for all of
  // them: the processor works on several where one has to wait for its own
  // numbers.
  static constexpr size_t kAhead = Permutation::kMaxApply;

  uint64_t NextPosition() {
    const uint64_t index = position_;
    position_ += stride_;
    if (position_ >= key_space_) position_ %= key_space_;
    return index;
  }

  uint64_t NextAhead() {
    if (next_ == kAhead) DrawAhead();
    return ahead_[next_++];
  }
  void DrawAhead();

  const KeyOrder order_;
  const uint64_t key_space_;
  const uint64_t stride_;
  uint64_t position_;
  Random random_;
  Permutation permutation_;
  ZipfRanks ranks_;
  YcsbZipf ycsb_;
  ReplayedStream* const replay_;
  size_t next_ = kAhead;
  std::array<uint64_t, kAhead> ahead_;  // of kUnique or a skewed order
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_KEY_STREAM_H_
