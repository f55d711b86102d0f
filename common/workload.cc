#include "common/workload.h"

#include <algorithm>

#include "common/blocks.h"
#include "common/contended.h"
#include "common/key_stream.h"
#include "common/write_stream.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSampledGets = 10'000;
constexpr uint64_t kSampledAbsents = 1'000;

// Reads --reads keys of the benchmark, less the last `cut` bytes of each:
// `read` has what must be found and the bytes of the key.  Returns the
// operations done.
template <typename Read>
uint64_t ReadKeys(const Workload& w, size_t cut, Read read) {
  KeyStream keys(DrawOf(w.benchmark, w.config, w.replay), w.oracle.key_space(),
                 w.stream_seed, w.part);
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  KeyBlock block(w.config.key_shape(), cut);
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < reads) {
    const uint64_t size =
        std::min<uint64_t>(block.capacity(), reads - operations);
    block.Fill(keys, w.oracle, w.check, size);
    w.meter.Prepared();
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

LoopResult RunGets(const Workload& w, Session& session) {
  const bool absent = w.benchmark.access == Access::kGetAbsent;
  const auto get = [&](const Expected& expected, std::string_view wanted) {
    const std::optional<std::string_view> value = session.Get(wanted);
    if (absent) {
      w.check.GotAbsent(wanted, value);
    } else {
      w.check.Got(expected, value);
    }
  };
  const uint64_t operations = ReadKeys(w, absent ? 1 : 0, get);
  return {operations, w.meter.StopNs(operations), w.check.found(),
          w.check.digest(), w.check.value_bytes()};
}

LoopResult RunSeeks(const Workload& w, Session& session) {
  std::optional<uint64_t> visited;
  const Visitor visit = [&](std::string_view at, std::string_view value) {
    visited = w.check.Visited(at, value);
    return false;
  };
  uint64_t found = 0;
  uint64_t value_bytes = 0;
  const auto seek = [&](const Expected& expected, std::string_view key) {
    const uint64_t index = expected.key;
    visited = w.oracle.key_space();
    const uint64_t before = w.check.value_bytes();
    session.Scan(key, Order::kForward, visit);
    if (visited != w.oracle.NextPresent(index)) {
      w.check.Fail("a seek lands on the wrong entry, sought", key);
    }
    if (visited != index) return;
    ++found;
    value_bytes += w.check.value_bytes() - before;
  };
  const uint64_t operations = ReadKeys(w, 0, seek);
  return {operations, w.meter.StopNs(operations), found, w.check.digest(),
          value_bytes};
}

// Follows a scan through the present keys in one direction.
class Sequence {
 public:
  Sequence(const Oracle& oracle, Order order)
      : oracle_(oracle),
        forward_(order == Order::kForward),
        expected_(forward_ ? oracle.NextPresent(0)
                           : oracle.PreviousPresent(oracle.key_space())) {}

  // True if `key` is the present key that comes next.
  bool Advance(uint64_t key) {
    const bool expected = key == expected_;
    expected_ =
        forward_ ? oracle_.NextPresent(key + 1) : oracle_.PreviousPresent(key);
    return expected;
  }

 private:
  const Oracle& oracle_;
  const bool forward_;
  uint64_t expected_;
};

// A scan of at most `limit` entries from one end.
LoopResult RunScan(const Workload& w, Session& session, Order order,
                   uint64_t limit, bool ordered) {
  uint64_t operations = 0;
  Sequence sequence(w.oracle, order);
  const Visitor visit = [&](std::string_view key, std::string_view value) {
    const std::optional<uint64_t> index = w.check.Visited(key, value);
    if (ordered && index && !sequence.Advance(*index)) {
      w.check.Fail("a scan is out of order or skips entries at", key);
    }
    return w.meter.Continue(++operations) && operations < limit;
  };
  w.meter.Start();
  session.Scan({}, order, visit);
  return {operations, w.meter.StopNs(operations), w.check.found(),
          w.check.digest(), w.check.value_bytes()};
}

void SampleGets(const Workload& w, Session& session) {
  KeyStream keys(KeyOrder::kUnique, w.oracle.key_space(), w.stream_seed);
  KeyBuffer key(w.config.key_shape());
  const uint64_t samples = std::min(kSampledGets, w.oracle.key_space());
  for (uint64_t i = 0; i < samples; ++i) {
    const uint64_t index = keys.Next();
    w.check.Got(w.check.Expect(index), session.Get(key.Set(index)));
  }
}

// Keys next to present ones: one byte shorter, one byte longer, past the end.
void SampleAbsents(const Workload& w, Session& session) {
  KeyStream keys(KeyOrder::kUnique, w.oracle.key_space(), w.stream_seed);
  const KeyShape shape = w.config.key_shape();
  KeyBuffer key(shape);
  const uint64_t samples = std::min(kSampledAbsents, w.oracle.key_space());
  for (uint64_t i = 0; i < samples; ++i) {
    const uint64_t index = keys.Next();
    const uint64_t past = w.oracle.key_space() + index;
    std::string wanted(key.Set(index));
    if (i % 3 == 0 || past >= shape.capacity()) {
      wanted.pop_back();
    } else if (i % 3 == 1) {
      wanted.push_back('0');
    } else {
      wanted = key.Set(past);
    }
    w.check.GotAbsent(wanted, session.Get(wanted));
  }
}

}  // namespace

void CheckComplete(const Workload& w, const LoopResult& loop,
                   const Oracle::Contents& all) {
  const uint64_t visited = loop.operations;
  if (visited != std::min(*loop.scan_limit, all.entries)) {
    w.check.Fail("a scan visits " + std::to_string(visited) + " entries of",
                 std::to_string(all.entries));
  } else if (visited == all.entries && w.check.digest() != all.digest) {
    w.check.Fail("a scan visits some entries twice and others", "never");
  }
}

LoopResult RunWrites(const Workload& w, Session& session) {
  const uint64_t entries = w.part.Of(EntriesOf(w.benchmark, w.config));
  const uint64_t batch_size = std::min(BatchSizeOf(w.benchmark, w.config),
                                       std::max<uint64_t>(entries, 1));
  WriteStream stream(w.benchmark, DrawOf(w.benchmark, w.config, w.replay),
                     w.stream_seed, w.oracle, w.part);
  if (stream.contended()) {
    return RunClaimedWrites(w, session, stream, entries, batch_size);
  }
  UpdateBlock block(stream, w.values, w.config.key_shape(), batch_size,
                    w.benchmark.kind == Kind::kDelete);
  uint64_t operations = 0;
  uint64_t value_bytes = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < entries) {
    const uint64_t size =
        std::min<uint64_t>(block.capacity(), entries - operations);
    block.Fill(size);
    w.meter.Prepared();
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
    if (!w.values.sizes().fixed()) value_bytes += block.ValueBytes(done);
    block.GiveBack(done);
  }
  return {operations, w.meter.StopNs(operations), 0, 0, value_bytes};
}

LoopResult RunReads(const Workload& w, Session& session) {
  switch (w.benchmark.access) {
    case Access::kGet:
      if (w.benchmark.writer) return RunContendedGets(w, session);
      return RunGets(w, session);
    case Access::kGetAbsent:
      return RunGets(w, session);
    case Access::kSeek:
      if (w.benchmark.writer) return RunContendedSeeks(w, session);
      return RunSeeks(w, session);
    default:
      break;
  }
  const Order order = w.benchmark.access == Access::kForward ? Order::kForward
                                                             : Order::kBackward;
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  LoopResult result = RunScan(w, session, order, reads, true);
  if (!w.meter.expired()) result.scan_limit = reads;
  return result;
}

LoopResult RunVerify(const Workload& w, Session& session, bool ordered) {
  // One entry more than there should be is enough to know.
  const Oracle::Contents all = w.oracle.Sum(w.values);
  const uint64_t limit = all.entries + 1;
  LoopResult result = RunScan(w, session, Order::kForward, limit, ordered);
  result.scan_limit = limit;
  CheckComplete(w, result, all);
  result.scan_limit.reset();
  SampleGets(w, session);
  SampleAbsents(w, session);
  return result;
}

}  // namespace kvmatrix
