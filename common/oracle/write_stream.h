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

// One update: put the value of `version`, or delete when `version` is 0.
struct Step {
  uint64_t key;
  uint32_t version;
  uint32_t before = 0;  // what the oracle recorded of the key until then
};

// True if all keys that it writes are new and different: version 1 each.
bool WritesDistinct(const Benchmark& benchmark, const KeyDraw& draw);

// The same stream drives the engine in a benchmark and the oracle alone in a
// replay, so that what was written and what is expected cannot drift apart.
class WriteStream {
 public:
  // Starts `benchmark` on what `oracle` records; a benchmark that wants a fresh
  // database has had it Reset().  `oracle` outlives the stream.
  // REQUIRES: IsWriting(benchmark)
  WriteStream(const Benchmark& benchmark, const KeyDraw& draw,
              uint64_t stream_seed, Oracle& oracle,
              const ThreadShare& thread_share = {});

  // The same with keys in the benchmark's own order.
  WriteStream(const Benchmark& benchmark, uint64_t stream_seed, Oracle& oracle)
      : WriteStream(benchmark, benchmark.key_order, stream_seed, oracle) {}

  // True if another thread may write the same keys at once: only NextKey() is
  // then allowed, and each write is to be claimed and published.
  bool contended() const { return !distinct_ && thread_share_.threads > 1; }

  Oracle& oracle() const { return oracle_; }

  // The key of the next update, which is recorded nowhere.
  uint64_t NextKey() {
    const uint64_t key = ahead_[next_];
    ahead_[next_] = keys_.Next();
    oracle_.Prefetch(ahead_[next_]);
    next_ = (next_ + 1) % kAhead;
    return key;
  }

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

  // Undoes the record of the last step that was not taken back, which was never
  // done.  The stream has no Next() after that.
  void Undo(const Step& step) {
    if (!distinct_) oracle_.Restore(step.key, step.before);
  }

  // Completes the oracle's record once each thread has taken its `steps`.
  // REQUIRES: none has taken more than its part of the key space
  static void Finish(const Benchmark& benchmark, const KeyDraw& draw,
                     uint64_t stream_seed, std::span<const uint64_t> steps,
                     Oracle& oracle);

  // Records the `steps` updates of each thread without handing them out.
  static void Replay(const Benchmark& benchmark, const KeyDraw& draw,
                     uint64_t stream_seed, std::span<const uint64_t> steps,
                     Oracle& oracle);

 private:
  Step NextReplayed();

  const bool deletes_;
  const bool distinct_;  // a fresh database and no key twice: version 1
  const ThreadShare thread_share_;
  ReplayedStream* const replay_;  // null: the own stream
  Oracle& oracle_;
  KeyStream keys_;

  // The next keys, drawn early so that their versions are in the processor's
  // cache when they are needed.
  static constexpr size_t kAhead = 32;
  uint64_t ahead_[kAhead];
  size_t next_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_WRITE_STREAM_H_
