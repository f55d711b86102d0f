#include "common/loops/scan_loop.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "common/spec/quantities.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSampledGets = 10'000;
constexpr uint64_t kSampledAbsents = 1'000;

// The entries that a scan must visit, one after another.  The next entry is
// prepared while the engine advances, so that the comparison of its key needs
// no formatting.
class Sequence {
 public:
  Sequence(const ThreadContext& context, Order order)
      : w_(context),
        forward_(order == Order::kForward),
        writer_(context.config.key_shape()),
        key_(writer_.shape().size(), writer_.shape().pad()) {
    Expect(forward_ ? w_.oracle.NextPresent(0)
                    : w_.oracle.PreviousPresent(w_.oracle.key_space()));
  }

  // Checks the entry that the scan visits.
  [[gnu::always_inline]] void Visit(std::string_view key,
                                    std::string_view value) {
    if (KeyIsNext(key)) [[likely]] {
      w_.check.ExpectPresentValue(expected_, value);
      Expect(After(expected_.key));
    } else {
      VisitAnother(key, value);
    }
  }

 private:
  bool KeyIsNext(std::string_view key) const {
    if (key.size() != key_.size() || at_end_) return false;
    if (key.size() != kKeyDigits) return key == key_;
    uint64_t visited[2], next[2];  // the usual size, without a call
    std::memcpy(visited, key.data(), sizeof(visited));
    std::memcpy(next, key_.data(), sizeof(next));
    return ((visited[0] ^ next[0]) | (visited[1] ^ next[1])) == 0;
  }

  // The scan visits an unexpected entry.  Resumes behind it, so that one
  // skipped entry counts as one failure and not as one for every later entry.
  [[gnu::noinline]] void VisitAnother(std::string_view key,
                                      std::string_view value) {
    const std::optional<uint64_t> index = w_.check.VisitEntry(key, value);
    if (!index) return;
    w_.check.Fail("a scan is out of order or skips entries at", key);
    const uint64_t next = After(*index);
    if (at_end_ || next != expected_.key) Expect(next);
  }

  // Returns the key that a scan visits after `key`.
  [[gnu::always_inline]] uint64_t After(uint64_t key) const {
    return forward_ ? w_.oracle.NextPresent(key + 1)
                    : w_.oracle.PreviousPresent(key);
  }

  // Prepares the entry of `key`, or the end of the scan.
  void Expect(uint64_t key) {
    at_end_ = key >= w_.oracle.key_space();
    if (at_end_) return;
    WriteKey(key);
    expected_ = w_.check.ExpectedOf(key);
    w_.values.Prefetch(expected_.root);
  }

  // Formats the next key.  A decimal key usually differs from its predecessor
  // in the last digit only.  The difference is unsigned: a backward step across
  // a multiple of ten wraps around to a number above 9.
  void WriteKey(uint64_t key) {
    const uint64_t last = key_.back() - '0' + (key - expected_.key);
    if (decimal_ && last < 10) {
      key_.back() = static_cast<char>('0' + last);
    } else {
      writer_.Write(key, key_.data());
    }
  }

  const ThreadContext& w_;
  const bool forward_;
  const KeyWriter writer_;
  const bool decimal_ = writer_.shape().format() == KeyFormat::kDecimal;
  std::string key_;  // of the next entry
  Expected expected_{};
  bool at_end_ = false;  // no entry is left to visit
};

// Returns the hash of an entry: of its bytes, not of what they ought to be.
uint64_t HashEntry(std::string_view key, std::string_view value) {
  return MixProduct(HashBytes(key), HashBytes(value));
}

// Returns the sum of the hashes of all entries that must be present, with each
// value generated as for a write.
uint64_t WrittenDigest(const ThreadContext& w) {
  KeyBuffer key(w.config.key_shape());
  std::string value(w.values.buffer_size(), 0);
  uint64_t digest = 0;
  const uint64_t end = w.oracle.key_space();
  for (uint64_t index = w.oracle.NextPresent(0); index < end;
       index = w.oracle.NextPresent(index + 1)) {
    const auto [_, version, root] = w.check.ExpectedOf(index);
    size_t size = 0;
    if (w.oracle.HasSizes()) {
      size = w.oracle.SizeOf(index, version, root, w.values);
      value.resize(std::max(value.size(), Values::BufferSize(size)));
      w.values.WriteSized(root, size, value.data());
    } else {
      size = w.values.Write(index, version, value.data());
    }
    digest += HashEntry(key.Set(index), {value.data(), size});
  }
  return digest;
}

// Scans at most `limit` entries from one end.  `digest` receives the sum of
// the hashes of the entries as the engine returned them, unless it is null.
LoopResult VisitEntries(const ThreadContext& w, Session& session, Order order,
                        uint64_t limit, bool ordered, uint64_t* digest) {
  uint64_t operations = 0;
  Sequence sequence(w, order);
  const auto visit = [&](std::string_view key, std::string_view value) {
    if (digest != nullptr) *digest += HashEntry(key, value);
    if (ordered) {
      sequence.Visit(key, value);
    } else {
      w.check.VisitEntry(key, value);
    }
    return w.meter.Continue(++operations) && operations < limit;
  };
  w.meter.Start();
  session.Scan({}, order, visit);
  const uint64_t loop_ns = w.meter.StopNs(operations);
  const uint64_t found = w.check.found();
  return {.operations = operations,
          .loop_ns = loop_ns,
          .found = found,
          .digest = w.check.digest(),
          .bytes = found * w.config.key_size + w.check.value_bytes()};
}

void SampleGets(const ThreadContext& w, Session& session) {
  KeyStream keys(KeyOrder::kUnique, w.oracle.key_space(), w.stream_seed);
  KeyBuffer key(w.config.key_shape());
  const uint64_t samples = std::min(kSampledGets, w.oracle.key_space());
  for (uint64_t i = 0; i < samples; ++i) {
    const uint64_t index = keys.Next();
    w.check.ExpectValue(w.check.ExpectedOf(index), session.Get(key.Set(index)));
  }
}

// Gets keys close to present ones: one byte shorter, one byte longer, and past
// the end of the key space.
void SampleAbsents(const ThreadContext& w, Session& session) {
  KeyStream keys(KeyOrder::kUnique, w.oracle.key_space(), w.stream_seed);
  const KeyShape shape = w.config.key_shape();
  KeyBuffer key(shape);
  const uint64_t samples = std::min(kSampledAbsents, w.oracle.key_space());
  for (uint64_t i = 0; i < samples; ++i) {
    const uint64_t index = keys.Next();
    // A key past the end of the key space may need an index that no key of this
    // shape can hold; a shortened key takes its place.
    const uint64_t past = w.oracle.key_space() + index;
    std::string absent_key(key.Set(index));
    if (i % 3 == 0 || past >= shape.capacity()) {
      absent_key.pop_back();
    } else if (i % 3 == 1) {
      absent_key.push_back('0');
    } else {
      absent_key = key.Set(past);
    }
    w.check.ExpectAbsent(absent_key, session.Get(absent_key));
  }
}

}  // namespace

void CheckComplete(const ThreadContext& w, const LoopResult& loop,
                   const Oracle::Contents& all) {
  const uint64_t visited = loop.operations;
  if (visited != std::min(*loop.scan_limit, all.entries)) {
    w.check.Fail("a scan visits " + std::to_string(visited) + " entries of",
                 std::to_string(all.entries));
  } else if (visited == all.entries && w.check.digest() != all.digest) {
    w.check.Fail("a scan visits some entries twice and others", "never");
  }
}

LoopResult RunScan(const ThreadContext& w, Session& session) {
  const Order order = w.benchmark.access == Access::kForward ? Order::kForward
                                                             : Order::kBackward;
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  // A driver that stores nothing has no order to check.
  const bool ordered = w.driver.stores;
  LoopResult result = VisitEntries(w, session, order, reads, ordered, nullptr);
  if (!w.meter.expired()) result.scan_limit = reads;
  return result;
}

LoopResult RunVerify(const ThreadContext& w, Session& session) {
  const bool ordered = w.driver.scans != ScanSupport::kUnordered &&
                       w.config.key_shape().ordered();
  // One entry more than expected is enough to detect a surplus.
  const Oracle::Contents all = w.oracle.Sum(w.values);
  const uint64_t limit = all.entries + 1;
  uint64_t received = 0;
  LoopResult result =
      VisitEntries(w, session, Order::kForward, limit, ordered, &received);
  result.scan_limit = limit;
  CheckComplete(w, result, all);
  result.digest = received;
  if (w.driver.stores && received != WrittenDigest(w)) {
    w.check.Fail("the bytes of a scan have another digest than those",
                 "written");
  }
  // Otherwise the caller would check the scan a second time, with a tally that
  // then includes the sampled gets.
  result.scan_limit.reset();
  SampleGets(w, session);
  SampleAbsents(w, session);
  return result;
}

}  // namespace kvmatrix
