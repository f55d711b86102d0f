// The keys that one benchmark visits, in order.

#ifndef COMMON_STREAM_KEY_STREAM_H_
#define COMMON_STREAM_KEY_STREAM_H_

#include <array>
#include <cstdint>
#include <optional>

#include "common/random/permutation.h"
#include "common/random/random.h"
#include "common/random/skewed_draws.h"
#include "common/random/thread_share.h"
#include "common/random/zipf.h"
#include "common/spec/benchmark.h"
#include "common/stream/key_draw.h"
#include "common/stream/leveldb_stream.h"

namespace kvmatrix {

// An endless sequence of key indexes; kSequential and kUnique start over after
// `key_space` keys.  Holds at most 34 KiB, however many keys there are.  A
// function of its arguments: equal arguments give equal sequences.  If the draw
// has a replay, the sequence is that of the replayed program instead.
//
//   KeyStream keys(DrawOf(benchmark, config, replay), oracle.key_space(),
//                  stream_seed, thread_share);
//   const uint64_t key = keys.Next();
//
// With several threads, thread t of n takes positions t, t + n, t + 2n, ... of
// kSequential and of kUnique, whose seed all threads share, so that together
// they visit each key once.  In the random orders each thread has an
// independent stream.
//
// Copies continue from the same position (except in a replay, whose state they
// share).  Not thread-safe: each thread has its own.
class KeyStream {
 public:
  // Draws keys from [0, key_space), or in kHot from its first hundredth.
  // `seed` is that of the benchmark's stream, from which each thread derives
  // its own; kZipf scatters its ranks by draw.scatter_seed and not by `seed`.
  // The draw's replay, if any, outlives the stream.
  // REQUIRES: 0 < key_space <= kMaxKeys; draw.zipf_theta is in (0, 100]; with a
  // replay, it has begun the benchmark and there is one thread
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
        hotspot_(key_space_, draw.hotspot),
        exponential_(key_space_, draw.exponential),
        gray_(order_ == KeyOrder::kYcsbLatest ? GrayZipf::OfLatest(key_space_)
                                              : std::nullopt),
        replay_(draw.replay) {}

  // Returns the index of the next key.  Called in the timed loop: allocates
  // nothing, except that kUnique and kZipf build a table of 32 KiB or less at
  // the first call.
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
  // Orders whose draws take long are drawn in blocks of this many, stage by
  // stage for the whole block, so that the processor overlaps draws that do not
  // depend on each other.
  static constexpr size_t kAhead = Permutation::kMaxApply;

  // Position of kSequential, also before it is permuted for kUnique.
  uint64_t NextPosition() {
    const uint64_t index = position_;
    position_ += stride_;
    if (position_ >= key_space_) position_ %= key_space_;
    return index;
  }

  // Returns the next key of the block in ahead_, and draws another block if
  // there is none.
  uint64_t NextAhead() {
    if (next_ == kAhead) DrawAhead();
    return ahead_[next_++];
  }
  // Fills ahead_.
  void DrawAhead();

  const KeyOrder order_;
  const uint64_t key_space_;  // keys that may be drawn
  const uint64_t stride_;     // from one position to the next: the threads
  uint64_t position_;         // the next one; of kSteps, the last key
  Random random_;
  // Every stream has all of these, although each order uses few of them: they
  // are small and cheap to make.
  Permutation permutation_;
  ZipfRanks ranks_;
  YcsbZipf ycsb_;
  Hotspot hotspot_;
  Exponential exponential_;
  std::optional<GrayZipf> gray_;  // of kYcsbLatest with enough keys for it
  ReplayedStream* const replay_;
  size_t next_ = kAhead;  // of ahead_, which is used up at the start
  std::array<uint64_t, kAhead> ahead_;  // of kUnique or a skewed order
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_KEY_STREAM_H_
