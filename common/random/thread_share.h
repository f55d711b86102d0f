// How a benchmark that several threads run is divided among them.

#ifndef COMMON_RANDOM_THREAD_SHARE_H_
#define COMMON_RANDOM_THREAD_SHARE_H_

#include <cstdint>

#include "common/random/random.h"

namespace kvmatrix {

// Thread number `thread` (from 0) of `threads`.  A value type.  The default is
// a run with a single thread.
// REQUIRES: thread < threads
struct ThreadShare {
  uint64_t thread = 0;
  uint64_t threads = 1;

  // Returns the seed of this thread's own stream, which is unrelated to those
  // of the others.  With a single thread that is the seed of the benchmark's
  // stream itself, so that a run with one thread draws the same numbers as one
  // that does not know about threads.
  constexpr uint64_t SeedOf(uint64_t stream_seed) const {
    return threads == 1 ? stream_seed
                        : StreamSeed(stream_seed, "thread", thread);
  }

  // Returns how many of `total` operations are this thread's.  The counts of
  // all threads add up to `total`; the first threads take the remainder.  They
  // differ by one at most, and are 0 for some threads if there are more threads
  // than operations.
  constexpr uint64_t CountOf(uint64_t total) const {
    return total / threads + (thread < total % threads ? 1 : 0);
  }

  // Returns the nearest of this thread's own positions among `count`: those of
  // which `threads` divides the number with the remainder `thread`.  It is at
  // most threads - 1 below or above `position`.
  // REQUIRES: threads <= count; position < count
  constexpr uint64_t OwnOf(uint64_t position, uint64_t count) const {
    if (threads == 1) return position;
    const uint64_t own = position - position % threads + thread;
    return own < count ? own : own - threads;
  }
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_THREAD_SHARE_H_
