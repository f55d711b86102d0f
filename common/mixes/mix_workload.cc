#include "common/mixes/mix_workload.h"

#include <numeric>

namespace kvmatrix {

void AddTypeShares(const Weights& weights, const Weights& counts,
                   std::vector<Share>& shares) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (size_t type = 0; type < kOperations; ++type) {
    if (weights[type] == 0 || all == 0) continue;
    const std::string name(OperationName(static_cast<Operation>(type)));
    shares.push_back({name + " of all operations", counts[type] / all,
                      weights[type], static_cast<uint64_t>(all)});
  }
}

void Mix::UseTable(const Weights& weights) {
  if (weights[static_cast<size_t>(Operation::kInsert)] > 0) {
    oracle_.LetGrow();
  } else {
    oracle_.UseTable();
  }
}

void Mix::Replay(uint64_t stream_seed, const ThreadShare& thread_share,
                 uint64_t operations) {
  const std::unique_ptr<MixStream> stream =
      NewStream(stream_seed, thread_share);
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream->Next();
    if (!Writes(step.operation)) continue;
    if (step.operation == Operation::kDelete) {
      oracle_.Delete(step.key);
      continue;
    }
    oracle_.Put(step.key);
    if (step.value_size) oracle_.SetSize(step.key, *step.value_size);
    stream->Done(step);
  }
}

}  // namespace kvmatrix
