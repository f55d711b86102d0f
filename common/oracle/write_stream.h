// The updates of a writing benchmark, one after another, and their record in
// the oracle.

#ifndef COMMON_ORACLE_WRITE_STREAM_H_
#define COMMON_ORACLE_WRITE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/oracle/oracle.h"
#include "common/spec/benchmark.h"
#include "common/stream/key_stream.h"
#include "common/stream/leveldb_stream.h"

namespace kvmatrix {

// One update: put the value of `version`, or delete if `version` is 0.  In a
// replayed stream `version` is the record of the value.
struct Step {
  uint64_t key;
  uint32_t version;
  uint32_t before = 0;  // the oracle's entry of the key before the update
};

// True if the benchmark fills a fresh database and writes no key twice.  Every
// version is then 1, and the oracle need not be updated in the loop.
bool WritesDistinct(const Benchmark& benchmark, const KeyDraw& draw);

// Draws keys and records the updates in the oracle.  The same code drives the
// engine in a benchmark and the oracle alone in a replay (--after), so that
// what was written and what is expected cannot diverge.
//
//   WriteStream stream(benchmark, draw, stream_seed, oracle, thread_share);
//   ... Next() for each update of this thread, then Undo() for those that were
//   not written ...
//   WriteStream::Finish(benchmark, draw, stream_seed, steps, oracle);  // once
//
// The last step is for all threads together, after they have ended.
//
// Threads.  No two threads write the same key: where keys are drawn at random,
// a draw is moved to the nearest of the thread's own keys, which are those of
// ThreadShare::OwnOf().  So the order of a key's writes is known without
// keeping one thread waiting for another, which would change what an engine
// does (group commit, for one), and each thread's keys still have the
// distribution of the draw.
//
// Not thread-safe: each thread has its own, on a common oracle.
class WriteStream {
 public:
  // Starts `benchmark` on the database that `oracle` describes; for a benchmark
  // with a fresh database the caller has Reset() it.  Gives the oracle its
  // table unless WritesDistinct(), so with several threads the table must exist
  // before.  `oracle`, and the draw's replay if any, outlive the stream.
  // REQUIRES: IsWriting(benchmark); a replay has one thread;
  // thread_share.threads <= oracle.key_space()
  WriteStream(const Benchmark& benchmark, const KeyDraw& draw,
              uint64_t stream_seed, Oracle& oracle,
              const ThreadShare& thread_share = {});

  // The same, with keys in the benchmark's own order.
  WriteStream(const Benchmark& benchmark, uint64_t stream_seed, Oracle& oracle)
      : WriteStream(benchmark, benchmark.key_order, stream_seed, oracle) {}

  // Returns the next update and records it.  The stream has no end; the caller
  // knows how many updates are its thread's.
  Step Next() {
    if (distinct_) return {keys_.Next(), 1};
    if (replay_ != nullptr) return NextReplayed();
    const uint64_t key = NextKey();
    const uint32_t before = oracle_.Record(key);
    if (deletes_) {
      oracle_.Delete(key);
      return {key, 0, before};
    }
    return {key, oracle_.Put(key), before};
  }

  // Removes the record of an update that was drawn and not written.
  // REQUIRES: updates are undone in reverse order, the last one first; no
  // Next() follows
  void Undo(const Step& step) {
    if (!distinct_) oracle_.Restore(step.key, step.before);
  }

  // Completes the oracle's record once thread i has written `steps[i]` updates:
  // a benchmark with WritesDistinct() records nothing until then.  REQUIRES: no
  // thread has written more than its share of the key space
  static void Finish(const Benchmark& benchmark, const KeyDraw& draw,
                     uint64_t stream_seed, std::span<const uint64_t> steps,
                     Oracle& oracle);

  // Records `steps[i]` updates of each thread i without writing them.
  static void Replay(const Benchmark& benchmark, const KeyDraw& draw,
                     uint64_t stream_seed, std::span<const uint64_t> steps,
                     Oracle& oracle);

 private:
  Step NextReplayed();

  // Returns the key of the next update without recording it.  Keys are drawn 32
  // ahead, to prefetch their entries in the oracle.
  uint64_t NextKey() {
    const uint64_t key = ahead_[next_];
    oracle_.Prefetch(ahead_[next_] = DrawKey());
    next_ = (next_ + 1) % kAhead;
    return key;
  }

  // Returns a key that only this thread writes.
  uint64_t DrawKey() {
    return thread_share_.OwnOf(keys_.Next(), oracle_.key_space());
  }

  const bool deletes_;
  const bool distinct_;  // see WritesDistinct()
  const ThreadShare thread_share_;
  ReplayedStream* const replay_;  // null: the own stream
  Oracle& oracle_;
  KeyStream keys_;

  // The next keys.  A table of four bytes per key does not fit the cache;
  // drawing early gives the prefetches time.
  static constexpr size_t kAhead = 32;
  uint64_t ahead_[kAhead];
  size_t next_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_WRITE_STREAM_H_
