#include "common/run/limits.h"

#include <algorithm>
#include <string>

#include "common/mixes/graph_mix.h"
#include "common/random/thread_share.h"
#include "common/spec/quantities.h"

namespace kvmatrix {
namespace {

// `things` and `unit` name what has the size: "keys of 1000 bytes".
void Require(const Limit& limit, uint64_t size, const std::string& things,
             const std::string& unit) {
  if (size <= limit.max) return;
  std::string message = things + " of " + std::to_string(size) + " " + unit +
                        ", but the engine accepts at most " +
                        std::to_string(limit.max);
  if (*limit.reason != '\0') message += ": " + std::string(limit.reason);
  throw Unsupported(message);
}

// Returns the number of updates in the largest batch of any thread.
uint64_t LargestBatch(const Benchmark& benchmark, const Config& config) {
  if (!IsWriting(benchmark)) return 1;
  // The first thread has the largest share.
  const ThreadShare first{0, config.threads};
  return std::min(BatchSizeOf(benchmark, config),
                  first.CountOf(EntriesOf(benchmark, config)));
}

}  // namespace

void RequireWithin(const Limits& limits, const Benchmark& benchmark,
                   const Config& config, const Values& values) {
  if (!Changes(benchmark)) return;
  const uint64_t mixed =
      IsMixgraph(benchmark) ? config.mix.mixgraph.mix_max_value_size : 0;
  Require(limits.key_size, config.key_size, "keys", "bytes");
  Require(limits.value_size, std::max<uint64_t>(values.value_size(), mixed),
          "values", "bytes");
  Require(limits.batch_size, LargestBatch(benchmark, config), "batches",
          "updates");
}

}  // namespace kvmatrix
