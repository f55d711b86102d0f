#include "common/write_stream.h"

namespace kvmatrix {

WriteStream::WriteStream(const Benchmark& benchmark, const KeyDraw& draw,
                         uint64_t stream_seed, Oracle& oracle)
    : deletes_(benchmark.kind == Kind::kDelete),
      distinct_(benchmark.prepare == Prepare::kFresh &&
                (draw.order == KeyOrder::kSequential ||
                 draw.order == KeyOrder::kUnique)),
      draw_(draw),
      seed_(stream_seed),
      oracle_(oracle),
      keys_(draw_, oracle.key_space(), seed_) {
  if (distinct_) return;
  oracle_.UseTable();
  for (uint64_t& key : ahead_) key = keys_.Next();
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
