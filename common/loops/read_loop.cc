#include "common/loops/read_loop.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "common/loops/blocks.h"
#include "common/loops/checked_scan.h"
#include "common/loops/contention.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

// The --reads keys of a benchmark, without the last `cut` bytes of each,
// prepared block by block with what a get must return (only its index if other
// threads write).
template <typename Contention>
class KeysToRead {
 public:
  KeysToRead(const ThreadContext& context, size_t cut)
      : w_(context),
        keys_(DrawOf(w_.benchmark, w_.config, w_.replay), w_.oracle.key_space(),
              w_.stream_seed, w_.thread_share),
        left_(ReadsOf(w_.benchmark, w_.config)),
        block_(w_.config.key_shape(), cut) {}

  const KeyBlock& block() const { return block_; }

  // Prepares the next block; returns its size, which is 0 after the last one.
  size_t Prepare() {
    const size_t size = std::min<uint64_t>(block_.capacity(), left_);
    left_ -= size;
    block_.Fill(keys_, w_.oracle, size);
    if (!Contention::kOthersWrite) block_.Expect(w_.check, size);
    w_.meter.ExcludePreparation();
    return size;
  }

 private:
  const ThreadContext& w_;
  KeyStream keys_;
  uint64_t left_;
  KeyBlock block_;
};

// Calls `read` for each key, with the expected answer and the bytes of the key.
// Returns the number of operations.
template <typename Contention, typename Read>
uint64_t ReadKeys(const ThreadContext& w, size_t cut, Read read) {
  KeysToRead<Contention> keys(w, cut);
  const KeyBlock& block = keys.block();
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more) {
    const size_t size = keys.Prepare();
    if (size == 0) break;
    for (size_t i = 0; more && i < size; ++i) {
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

// Performs seeks that read on: --seek_nexts entries more.
template <typename Contention>
LoopResult RunSeeksAndNexts(const ThreadContext& w, Session& session) {
  const Order order =
      w.config.reverse_iterator ? Order::kBackward : Order::kForward;
  CheckedScan<Contention> scan(w);
  LoopResult sum;
  const auto seek = [&](const Expected& ahead, std::string_view key) {
    scan.LookAhead(ahead.key, 1 + w.config.seek_nexts, order);
    w.meter.ExcludePreparation();
    const auto scanned = scan.Run(session, key);
    sum.found += scanned.is_hit;
    sum.bytes += scanned.bytes;
  };
  LoopResult result = Finish(w, ReadKeys<Contention>(w, 0, seek), 0, 0);
  result.found = sum.found;
  result.bytes = sum.bytes;
  return result;
}

template <typename Contention>
LoopResult RunSeeks(const ThreadContext& w, Session& session) {
  if (w.config.seek_nexts > 0 || w.config.reverse_iterator) {
    return RunSeeksAndNexts<Contention>(w, session);
  }
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
      if (others_write) return RunGets<Contended>(w, session);
      return RunGets<Alone>(w, session);
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
