#include "common/loops/read_loop.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "common/loops/blocks.h"
#include "common/loops/contention.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

// Reads --reads keys of the benchmark, without the last `cut` bytes of each.
// `read` is called with the expected answer (only its index if other threads
// write) and the bytes of the key.  Returns the number of operations.
template <typename Contention, typename Read>
uint64_t ReadKeys(const ThreadContext& w, size_t cut, Read read) {
  KeyStream keys(DrawOf(w.benchmark, w.config, w.replay), w.oracle.key_space(),
                 w.stream_seed, w.thread_share);
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  KeyBlock block(w.config.key_shape(), cut);
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < reads) {
    const uint64_t size =
        std::min<uint64_t>(block.capacity(), reads - operations);
    block.Fill(keys, w.oracle, size);
    if (!Contention::kOthersWrite) block.Expect(w.check, size);
    w.meter.ExcludePreparation();
    for (uint64_t i = 0; more && i < size; ++i) {
      more = w.meter.IsInTime(1);
      if (!more) break;
      w.meter.Begin(1);
      read(block.expected(i), block.key(i));
      more = w.meter.Continue(++operations);
    }
  }
  return operations;
}

// Ends the loop.  `found` keys were present, with values of `value_bytes` bytes
// in all.
LoopResult Finish(const ThreadContext& w, uint64_t operations, uint64_t found,
                  uint64_t value_bytes) {
  return {.operations = operations,
          .loop_ns = w.meter.StopNs(operations),
          .found = found,
          .digest = w.check.digest(),
          .bytes = found * w.config.key_size + value_bytes};
}

template <typename Contention>
LoopResult RunGets(const ThreadContext& w, Session& session) {
  const auto get = [&](const Expected& ahead, std::string_view key) {
    if constexpr (Contention::kOthersWrite) {
      const auto known = Contention::Observe(w, ahead.key);
      w.meter.ExcludePreparation();
      Contention::Compare(w, ahead.key, known, session.Get(key));
    } else {
      w.check.ExpectValue(ahead, session.Get(key));
    }
  };
  const uint64_t operations = ReadKeys<Contention>(w, 0, get);
  return Finish(w, operations, w.check.found(), w.check.value_bytes());
}

LoopResult RunGetsOfAbsent(const ThreadContext& w, Session& session) {
  const auto get = [&](const Expected&, std::string_view key) {
    w.check.ExpectAbsent(key, session.Get(key));
  };
  return Finish(w, ReadKeys<Alone>(w, 1, get), 0, 0);
}

// Performs seeks: each one records which entry was due before the call, and
// where the call landed.
template <typename Contention>
class Seeker {
 public:
  explicit Seeker(const ThreadContext& context) : w_(context) {}

  void Seek(Session& session, uint64_t sought, std::string_view key) {
    present_ = w_.oracle.NextPresent(sought);
    known_ = Contention::Observe(w_, present_);
    landed_ = w_.oracle.key_space();
    Contention::ExcludePreparation(w_);
    session.Scan(key, Order::kForward,
                 [this](std::string_view at, std::string_view value) {
                   Visit(at, value);
                   return false;
                 });
    if (!Contention::MayLand(landed_, sought, present_)) {
      w_.check.Fail("a seek lands on the wrong entry, sought", key);
    }
    if (landed_ != sought) return;
    ++found_;
    value_bytes_ += landed_bytes_;
  }

  // Seeks that landed on the sought key itself, and the bytes of their values.
  uint64_t found() const { return found_; }
  uint64_t value_bytes() const { return value_bytes_; }

 private:
  void Visit(std::string_view at, std::string_view value) {
    const std::optional<uint64_t> index = w_.check.IndexOf(at);
    if (!index) return;
    landed_ = *index;
    landed_bytes_ = value.size();
    Contention::Compare(w_, landed_,
                        landed_ == present_ ? known_ : Contention::Absent(),
                        value);
  }

  const ThreadContext& w_;
  uint64_t present_ = 0;  // first present key at or after the sought one
  typename Contention::Known known_{};  // observation of `present_`
  uint64_t landed_ = 0;
  uint64_t landed_bytes_ = 0;
  uint64_t found_ = 0;
  uint64_t value_bytes_ = 0;
};

template <typename Contention>
LoopResult RunSeeks(const ThreadContext& w, Session& session) {
  Seeker<Contention> seeker(w);
  const auto seek = [&](const Expected& ahead, std::string_view key) {
    seeker.Seek(session, ahead.key, key);
  };
  const uint64_t operations = ReadKeys<Contention>(w, 0, seek);
  return Finish(w, operations, seeker.found(), seeker.value_bytes());
}

}  // namespace

LoopResult RunReads(const ThreadContext& w, Session& session) {
  const bool others_write = w.benchmark.writer;
  switch (w.benchmark.access) {
    case Access::kGet:
      return others_write ? RunGets<Contended>(w, session)
                          : RunGets<Alone>(w, session);
    case Access::kGetAbsent:
      return RunGetsOfAbsent(w, session);
    case Access::kSeek:
      return others_write ? RunSeeks<Contended>(w, session)
                          : RunSeeks<Alone>(w, session);
    default:
      throw std::logic_error("not read key by key: " +
                             std::string(w.benchmark.name));
  }
}

}  // namespace kvmatrix
