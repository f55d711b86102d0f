#include "common/write_stream.h"

namespace kvmatrix {

WriteStream::WriteStream(const Benchmark& benchmark, uint64_t stream_seed,
                         Oracle& oracle)
    : deletes_(benchmark.kind == Kind::kDelete),
      distinct_(benchmark.prepare == Prepare::kFresh &&
                benchmark.key_order != KeyOrder::kUniform),
      order_(benchmark.key_order),
      seed_(stream_seed),
      oracle_(oracle),
      keys_(order_, oracle.key_space(), seed_) {
  if (distinct_) return;
  oracle_.UseTable();
  for (uint64_t& key : ahead_) key = keys_.Next();
}

void WriteStream::Finish(uint64_t steps) {
  if (!distinct_) return;
  if (order_ == KeyOrder::kSequential || steps == oracle_.key_space()) {
    oracle_.ResetToPrefix(oracle_.key_space(), oracle_.value_size(), steps);
    return;
  }
  oracle_.UseTable();
  KeyStream keys(order_, oracle_.key_space(), seed_);
  for (uint64_t i = 0; i < steps; ++i) oracle_.Put(keys.Next());
}

void WriteStream::Replay(uint64_t steps) {
  if (!distinct_) {
    for (uint64_t i = 0; i < steps; ++i) Next();
  }
  Finish(steps);
}

}  // namespace kvmatrix
