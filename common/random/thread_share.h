// The share of one thread in a benchmark that several run.

#ifndef COMMON_RANDOM_THREAD_SHARE_H_
#define COMMON_RANDOM_THREAD_SHARE_H_

#include <cstdint>

#include "common/random/random.h"

namespace kvmatrix {

// Thread number `thread` of `threads`.
struct ThreadShare {
  uint64_t thread = 0;
  uint64_t threads = 1;

  // The seed of this thread's own stream.  A thread that is alone has that of
  // the benchmark, so that its stream has no word of threads in it.
  constexpr uint64_t SeedOf(uint64_t stream_seed) const {
    return threads == 1 ? stream_seed
                        : StreamSeed(stream_seed, "thread", thread);
  }

  // What falls to this thread of so many; the first ones take the remainder.
  constexpr uint64_t CountOf(uint64_t total) const {
    return total / threads + (thread < total % threads ? 1 : 0);
  }
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_THREAD_SHARE_H_
