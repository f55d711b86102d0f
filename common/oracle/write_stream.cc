#include "common/oracle/write_stream.h"

#include <cassert>
#include <numeric>

namespace kvmatrix {

bool WritesDistinct(const Benchmark& benchmark, const KeyDraw& draw) {
  return benchmark.prepare == Prepare::kFresh && draw.replay == nullptr &&
         (draw.order == KeyOrder::kSequential ||
          draw.order == KeyOrder::kUnique);
}

WriteStream::WriteStream(const Benchmark& benchmark, const KeyDraw& draw,
                         uint64_t stream_seed, Oracle& oracle,
                         const ThreadShare& thread_share)
    : deletes_(benchmark.kind == Kind::kDelete),
      distinct_(WritesDistinct(benchmark, draw)),
      thread_share_(thread_share),
      replay_(draw.replay),
      oracle_(oracle),
      keys_(draw, oracle.key_space(), stream_seed, thread_share) {
  if (distinct_) return;
  oracle_.UseTable();
  if (replay_ != nullptr) return;
  for (uint64_t& key : ahead_) key = DrawKey();
}

// Draws no key ahead: in a replay, the number after the last one belongs to the
// next benchmark.
Step WriteStream::NextReplayed() {
  const uint64_t key = replay_->NextKey();
  const uint32_t before = oracle_.Record(key);
  if (deletes_) {
    oracle_.Delete(key);
    return {key, 0, before};
  }
  const uint32_t record = replay_->NextRecord();
  oracle_.Restore(key, record);
  return {key, record, before};
}

void WriteStream::Finish(const Benchmark& benchmark, const KeyDraw& draw,
                         uint64_t stream_seed, std::span<const uint64_t> steps,
                         Oracle& oracle) {
  if (!WritesDistinct(benchmark, draw)) return;
  const uint64_t all = std::accumulate(steps.begin(), steps.end(), uint64_t{0});
  assert(all <= oracle.key_space());
  // What is present is a prefix again, so the oracle needs no table: all keys
  // were written, or one thread wrote them in order.
  const bool in_order =
      draw.order == KeyOrder::kSequential && steps.size() == 1;
  if (in_order || all == oracle.key_space()) {
    oracle.ResetToPrefix(oracle.key_space(), oracle.value_size(), all);
    return;
  }
  oracle.UseTable();
  for (uint64_t thread = 0; thread < steps.size(); ++thread) {
    // The keys are drawn once more: recording them in the loop would cost time
    // there.
    KeyStream keys(draw, oracle.key_space(), stream_seed,
                   {thread, steps.size()});
    for (uint64_t i = 0; i < steps[thread]; ++i) oracle.Put(keys.Next());
  }
}

void WriteStream::Replay(const Benchmark& benchmark, const KeyDraw& draw,
                         uint64_t stream_seed, std::span<const uint64_t> steps,
                         Oracle& oracle) {
  if (!WritesDistinct(benchmark, draw)) {
    for (uint64_t thread = 0; thread < steps.size(); ++thread) {
      WriteStream stream(benchmark, draw, stream_seed, oracle,
                         {thread, steps.size()});
      for (uint64_t i = 0; i < steps[thread]; ++i) stream.Next();
    }
  }
  Finish(benchmark, draw, stream_seed, steps, oracle);
}

}  // namespace kvmatrix
