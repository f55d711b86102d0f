#include "common/write_stream.h"

namespace kvmatrix {

WriteStream::WriteStream(const Benchmark& benchmark, const KeyDraw& draw,
                         uint64_t stream_seed, Oracle& oracle)
    : deletes_(benchmark.kind == Kind::kDelete),
      distinct_(benchmark.prepare == Prepare::kFresh &&
                draw.replay == nullptr &&
                (draw.order == KeyOrder::kSequential ||
                 draw.order == KeyOrder::kUnique)),
      draw_(draw),
      seed_(stream_seed),
      oracle_(oracle),
      keys_(draw_, oracle.key_space(), seed_) {
  if (distinct_) return;
  oracle_.UseTable();
  if (draw_.replay != nullptr) return;
  for (uint64_t& key : ahead_) key = keys_.Next();
}

// Draws nothing ahead: what follows may be the next benchmark's.
Step WriteStream::NextReplayed() {
  const uint64_t key = draw_.replay->NextKey();
  const uint32_t before = oracle_.Record(key);
  if (deletes_) {
    oracle_.Delete(key);
    return {key, 0, before};
  }
  const uint32_t record = draw_.replay->NextRecord();
  oracle_.Restore(key, record);
  return {key, record, before};
}

void WriteStream::Finish(uint64_t steps) {
  if (!distinct_) return;
  if (draw_.order == KeyOrder::kSequential || steps == oracle_.key_space()) {
    oracle_.ResetToPrefix(oracle_.key_space(), oracle_.value_size(), steps);
    return;
  }
  oracle_.UseTable();
  KeyStream keys(draw_, oracle_.key_space(), seed_);
  for (uint64_t i = 0; i < steps; ++i) oracle_.Put(keys.Next());
}

void WriteStream::Replay(uint64_t steps) {
  if (!distinct_) {
    for (uint64_t i = 0; i < steps; ++i) Next();
  }
  Finish(steps);
}

}  // namespace kvmatrix
