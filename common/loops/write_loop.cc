#include "common/loops/write_loop.h"

#include <algorithm>
#include <span>
#include <vector>

#include "common/loops/blocks.h"
#include "common/loops/thread_group.h"
#include "common/oracle/claimed_updates.h"
#include "common/oracle/write_stream.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

// Takes the place of UpdateBlock where other threads write the same keys: the
// keys of a batch are drawn and claimed right before it is written, so that
// they are claimed as briefly as possible.
class ClaimedBatches {
 public:
  static constexpr bool kPreparedAhead = false;

  ClaimedBatches(WriteStream& stream, const Values& values, KeyShape keys,
                 size_t batch_size, bool deletes)
      : stream_(stream),
        keys_(batch_size),
        updates_(stream.oracle(), values, keys, batch_size, deletes) {}

  size_t capacity() const { return keys_.size(); }
  void Fill(size_t /*count*/) {}
  std::span<const Update> Range(uint64_t /*done*/, uint64_t count) {
    const auto keys = std::span(keys_).first(count);
    for (uint64_t& key : keys) key = stream_.NextKey();
    return updates_.Claim(keys);
  }
  void Written() { updates_.Publish(); }
  void ReturnUnwritten(uint64_t /*done*/) {}
  uint64_t value_bytes() const { return updates_.value_bytes(); }

 private:
  WriteStream& stream_;
  std::vector<uint64_t> keys_;
  ClaimedUpdates updates_;
};

// Not inlined, so that the compiler has the budget to inline everything that
// this function calls for each entry.
template <typename Batches>
[[gnu::noinline]] LoopResult WriteBatches(const ThreadContext& w,
                                          Session& session, WriteStream& stream,
                                          uint64_t entries) {
  const bool deletes = w.benchmark.kind == Kind::kDelete;
  const uint64_t batch_size = std::min(BatchSizeOf(w.benchmark, w.config),
                                       std::max<uint64_t>(entries, 1));
  Batches batches(stream, w.values, w.config.key_shape(), batch_size, deletes);
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < entries) {
    const uint64_t size =
        std::min<uint64_t>(batches.capacity(), entries - operations);
    batches.Fill(size);
    w.meter.ExcludePreparation();
    uint64_t done = 0;
    while (more && done < size) {
      const uint64_t count = std::min(batch_size, size - done);
      more = w.meter.IsInTime(count);
      if (!more) break;
      w.meter.Begin(count);
      const std::span<const Update> batch = batches.Range(done, count);
      if (!Batches::kPreparedAhead) w.meter.ExcludePreparation();
      session.Write(batch);
      batches.Written();
      done += count;
      more = w.meter.Continue(operations + done);
    }
    operations += done;
    batches.ReturnUnwritten(done);
  }
  const uint64_t loop_ns = w.meter.StopNs(operations);
  const uint64_t bytes = operations * w.config.key_size + batches.value_bytes();
  return {.operations = operations,
          .loop_ns = loop_ns,
          .bytes = deletes ? 0 : bytes};
}

KeyStream WriterKeys(uint64_t stream_seed, const Oracle& oracle) {
  return {KeyOrder::kUniform, oracle.key_space(),
          StreamSeed(stream_seed, "writer", 0)};
}

}  // namespace

LoopResult RunWrites(const ThreadContext& w, Session& session) {
  const uint64_t entries =
      w.thread_share.CountOf(EntriesOf(w.benchmark, w.config));
  WriteStream stream(w.benchmark, DrawOf(w.benchmark, w.config, w.replay),
                     w.stream_seed, w.oracle, w.thread_share);
  return stream.contended()
             ? WriteBatches<ClaimedBatches>(w, session, stream, entries)
             : WriteBatches<UpdateBlock>(w, session, stream, entries);
}

LoopResult RunWriter(const ThreadContext& w, Session& session) {
  // A writer that waits for its next moment checks this often whether the
  // readers have ended.
  constexpr uint64_t kLongestWaitNs = 10'000'000;
  KeyStream keys = WriterKeys(w.stream_seed, w.oracle);
  ClaimedUpdates updates(w.oracle, w.values, w.config.key_shape(), 1, false);
  uint64_t operations = 0;
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
    const std::span<const Update> update = updates.Claim({&key, 1});
    w.meter.ExcludePreparation();
    session.Write(update);
    updates.Publish();
    w.meter.Continue(++operations);
    // Not before the first write: the readers must have company from their
    // start.
    if (operations == 1) w.group->HelperReady();
  }
  const uint64_t loop_ns = w.meter.StopNs(operations);
  return {.operations = operations,
          .loop_ns = loop_ns,
          .bytes = operations * w.config.key_size + updates.value_bytes()};
}

void ReplayWriter(uint64_t stream_seed, uint64_t operations, Oracle& oracle) {
  oracle.UseTable();
  KeyStream keys = WriterKeys(stream_seed, oracle);
  for (uint64_t i = 0; i < operations; ++i) oracle.Put(keys.Next());
}

}  // namespace kvmatrix
