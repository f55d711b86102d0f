#include "common/loops/write_loop.h"

#include <algorithm>
#include <span>
#include <vector>

#include "common/loops/blocks.h"
#include "common/loops/key_claim.h"
#include "common/loops/thread_group.h"
#include "common/oracle/write_stream.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"
#include "common/stream/keys.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

KeyStream WriterKeys(uint64_t stream_seed, const Oracle& oracle) {
  return {KeyOrder::kUniform, oracle.key_space(),
          StreamSeed(stream_seed, "writer", 0)};
}

}  // namespace

LoopResult RunWrites(const ThreadContext& w, Session& session) {
  const bool deletes = w.benchmark.kind == Kind::kDelete;
  const uint64_t entries =
      w.thread_share.CountOf(WritesOf(w.benchmark, w.config));
  const uint64_t batch_size = std::min(BatchSizeOf(w.benchmark, w.config),
                                       std::max<uint64_t>(entries, 1));
  WriteStream stream(w.benchmark, DrawOf(w.benchmark, w.config, w.replay),
                     w.stream_seed, w.oracle, w.thread_share);
  UpdateBlock block(stream, w.values, w.config.key_shape(), batch_size,
                    deletes);
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < entries) {
    const uint64_t size =
        std::min<uint64_t>(block.capacity(), entries - operations);
    block.Fill(size);
    w.meter.ExcludePreparation();
    uint64_t done = 0;
    while (more && done < size) {
      const uint64_t count = std::min(batch_size, size - done);
      more = w.meter.IsInTime(count);
      if (!more) break;
      w.meter.Begin(count);
      session.Write(block.Range(done, count));
      done += count;
      more = w.meter.Continue(operations + done);
    }
    operations += done;
    block.ReturnUnwritten(done);
  }
  const uint64_t loop_ns = w.meter.StopNs(operations);
  const uint64_t bytes = operations * w.config.key_size + block.value_bytes();
  return {.operations = operations,
          .loop_ns = loop_ns,
          .bytes = deletes ? 0 : bytes};
}

LoopResult RunWriter(const ThreadContext& w, Session& session) {
  // A writer that waits for its next moment checks this often whether the
  // readers have ended.
  constexpr uint64_t kLongestWaitNs = 10'000'000;
  KeyStream keys = WriterKeys(w.stream_seed, w.oracle);
  KeyBuffer key_bytes(w.config.key_shape());
  std::vector<char> value(w.values.buffer_size());
  uint64_t operations = 0;
  uint64_t bytes = 0;
  w.meter.Start();
  const uint64_t start_ns = w.meter.start_ns();
  const auto is_due = [&] {
    if (w.config.writes_per_second == 0) return true;
    // Each moment is computed from the start, so that rounding does not add up;
    // the product exceeds 64 bits after 1.8e10 operations.
    const auto ns = static_cast<unsigned __int128>(operations) * kNsPerSecond /
                    w.config.writes_per_second;
    const uint64_t due_ns = start_ns + static_cast<uint64_t>(ns);
    const uint64_t now_ns = w.clock.NowNs();
    if (now_ns >= due_ns) return true;
    return w.clock.WaitUntilNs(std::min(due_ns, now_ns + kLongestWaitNs)) >=
           due_ns;
  };
  while (!w.group->finished()) {
    if (!is_due()) continue;
    const uint64_t key = keys.Next();
    {
      const KeyClaim claim(w, key);
      const size_t size = w.values.Write(key, claim.version(), value.data());
      const Update update{key_bytes.Set(key), {{value.data(), size}}};
      w.meter.ExcludePreparation();
      session.Write({&update, 1});
      bytes += update.key.size() + size;
    }
    w.meter.Continue(++operations);
    // Not before the first write: the readers must have company from their
    // start.
    if (operations == 1) w.group->HelperReady();
  }
  const uint64_t loop_ns = w.meter.StopNs(operations);
  return {.operations = operations, .loop_ns = loop_ns, .bytes = bytes};
}

void ReplayWriter(uint64_t stream_seed, uint64_t operations, Oracle& oracle) {
  oracle.UseTable();
  KeyStream keys = WriterKeys(stream_seed, oracle);
  for (uint64_t i = 0; i < operations; ++i) oracle.Put(keys.Next());
}

}  // namespace kvmatrix
