#include "common/loops/scan_loop.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/oracle/entry_hash.h"
#include "common/random/random.h"
#include "common/spec/quantities.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSampledGets = 10'000;
constexpr uint64_t kSampledAbsents = 1'000;

// The entries that a scan must visit, one after another.
class Sequence {
 public:
  Sequence(const ThreadContext& context, Order order)
      : w_(context),
        forward_(order == Order::kForward),
        key_(context.config.key_shape()) {
    Expect(forward_ ? w_.oracle.NextPresent(0)
                    : w_.oracle.PreviousPresent(w_.oracle.key_space()));
  }

  // Checks the entry that the scan visits.
  void Visit(std::string_view key, std::string_view value) {
    if (!at_end_ && key == key_.Set(expected_.key)) [[likely]] {
      w_.check.ExpectPresentValue(expected_, value);
      Expect(After(expected_.key));
    } else {
      VisitAnother(key, value);
    }
  }

 private:
  // The scan visits an unexpected entry.  Resumes behind it, so that one
  // skipped entry counts as one failure and not as one for every later entry.
  void VisitAnother(std::string_view key, std::string_view value) {
    const std::optional<uint64_t> index = w_.check.VisitEntry(key, value);
    if (!index) return;
    w_.check.Fail("a scan is out of order or skips entries at", key);
    const uint64_t next = After(*index);
    if (at_end_ || next != expected_.key) Expect(next);
  }

  // Returns the key that a scan visits after `key`.
  uint64_t After(uint64_t key) const {
    return forward_ ? w_.oracle.NextPresent(key + 1)
                    : w_.oracle.PreviousPresent(key);
  }

  // Prepares the entry of `key`, or the end of the scan.
  void Expect(uint64_t key) {
    at_end_ = key >= w_.oracle.key_space();
    if (!at_end_) expected_ = w_.check.ExpectedOf(key);
  }

  const ThreadContext& w_;
  const bool forward_;
  KeyBuffer key_;  // of the next entry
  Expected expected_{};
  bool at_end_ = false;  // no entry is left to visit
};

// What the entries of a scan ought to be, or were.
struct Scanned {
  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;

  // A checksum is linear: without the mixing, two entries that exchange their
  // values would often have the same sum.
  [[gnu::always_inline]] void Add(std::string_view key,
                                  std::string_view value) {
    const uint64_t entry = EntryHash(key, value);
    hash = in_order ? hash * kFactor + entry : hash + Mix64(entry);
  }

  bool in_order = true;  // false: the hash is that of the entries in any order
  uint64_t hash = 0;
  Oracle::Contents entries = {};
};

// Returns the first `limit` present entries in an order, each value generated
// as for a write.
Scanned Written(const ThreadContext& w, Order order, uint64_t limit,
                bool in_order) {
  Scanned all{in_order};
  KeyBuffer key(w.config.key_shape());
  std::string value(w.values.buffer_size(), 0);
  const bool forward = order == Order::kForward;
  const uint64_t end = w.oracle.key_space();
  uint64_t index =
      forward ? w.oracle.NextPresent(0) : w.oracle.PreviousPresent(end);
  while (index < end && all.entries.entries < limit) {
    const auto [_, version, root] = w.check.ExpectedOf(index);
    size_t size = 0;
    if (w.oracle.HasSizes()) {
      size = w.oracle.SizeOf(index, version, root, w.values);
      value.resize(std::max(value.size(), Values::BufferSize(size)));
      w.values.WriteSized(root, size, value.data());
    } else {
      size = w.values.Write(index, version, value.data());
    }
    all.Add(key.Set(index), {value.data(), size});
    ++all.entries.entries;
    all.entries.value_bytes += size;
    all.entries.digest += Values::Fingerprint(root);
    index = forward ? w.oracle.NextPresent(index + 1)
                    : w.oracle.PreviousPresent(index);
  }
  return all;
}

// Scans from one end and passes at most `limit` entries to `visit`, timed.
template <typename Visit>  // void(std::string_view key, std::string_view value)
LoopResult TimeScan(const ThreadContext& w, Session& session, Order order,
                    uint64_t limit, Visit visit) {
  uint64_t operations = 0;
  uint64_t next_check = 0;
  const auto check = [&]() __attribute__((noinline)) {
    const bool continues = w.meter.Continue(operations) && operations < limit;
    next_check = std::min(w.meter.next_check(), limit);
    return continues;
  };
  w.meter.Start();
  session.Scan({}, order, [&](std::string_view key, std::string_view value) {
    visit(key, value);
    return ++operations < next_check || check();
  });
  return {.operations = operations, .loop_ns = w.meter.StopNs(operations)};
}

// Scans at most `limit` entries from one end, and compares each.
void CheckEach(const ThreadContext& w, Session& session, Order order,
               uint64_t limit) {
  Sequence sequence(w, order);
  uint64_t visited = 0;
  session.Scan({}, order, [&](std::string_view key, std::string_view value) {
    // A driver that stores nothing has no order to check.
    if (w.driver.stores) {
      sequence.Visit(key, value);
    } else {
      w.check.VisitEntry(key, value);
    }
    return ++visited < limit;
  });
}

// Sets what the tally of the checks says.
void Tally(const ThreadContext& w, LoopResult& result) {
  result.found = w.check.found();
  result.digest = w.check.digest();
  result.bytes = result.found * w.config.key_size + w.check.value_bytes();
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

// Checks that a scan from `sought` begins with the key of index `due`; at the
// end of the key space, that it visits nothing.
void CheckSeek(const ThreadContext& w, Session& session, Order order,
               std::string_view sought, uint64_t due) {
  uint64_t landed = w.oracle.key_space();
  session.Scan(sought, order,
               [&](std::string_view key, std::string_view value) {
                 const auto index = w.check.VisitEntry(key, value);
                 if (index) landed = *index;
                 return false;
               });
  if (landed != due) {
    w.check.Fail("a seek lands on the wrong entry, sought", sought);
  }
}

// Seeks absent keys, each between two present ones that are neighbours: an
// index in between or, if there is none, the first of the two and a byte more.
void SampleSeeks(const ThreadContext& w, Session& session, uint64_t entries) {
  const uint64_t none = w.oracle.key_space();
  const uint64_t stride = entries / kSampledAbsents + 1;
  KeyBuffer key(w.config.key_shape());
  const auto seek = [&](uint64_t before, uint64_t after) {
    const uint64_t first = before == none ? 0 : before + 1;
    std::string sought;
    if (first < after) {
      sought = key.Set(first + (after - first) / 2);
    } else if (before != none) {
      sought.assign(key.Set(before)).push_back('0');
    } else {
      return;  // nothing precedes the first key
    }
    CheckSeek(w, session, Order::kForward, sought, after);
    if (w.driver.scans != ScanSupport::kBothWays) return;
    CheckSeek(w, session, Order::kBackward, sought, before);
  };
  uint64_t before = none;
  for (uint64_t i = 0;; ++i) {
    const uint64_t after =
        w.oracle.NextPresent(before == none ? 0 : before + 1);
    if (i % stride == 0 || after == none) seek(before, after);
    if (after == none) return;
    before = after;
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

// The loop has no time to compare each entry: it hashes them, in their order.
// What the hash ought to be is computed before the clock starts, because other
// threads may still be scanning when this one has ended.  If the hashes differ,
// a second scan finds the entry.
LoopResult RunScan(const ThreadContext& w, Session& session) {
  const Order order = w.benchmark.access == Access::kForward ? Order::kForward
                                                             : Order::kBackward;
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  Scanned due = Written(w, order, reads, true);
  Scanned received;
  LoopResult result =
      TimeScan(w, session, order, reads,
               [&](std::string_view key, std::string_view value) {
                 received.Add(key, value);
               });
  if (!w.meter.expired()) {
    result.scan_limit = reads;
  } else if (result.operations < due.entries.entries) {
    due = Written(w, order, result.operations, true);
  }
  if (w.driver.stores && received.hash == due.hash) {
    w.check.Accept(due.entries);
  } else if (result.operations > 0) {
    CheckEach(w, session, order, result.operations);
    // CheckComplete() says so if there were too few.
    if (w.driver.stores && w.check.Reason().empty() &&
        result.operations == due.entries.entries) {
      w.check.Fail("a scan returns other entries than the next", "one");
    }
  }
  Tally(w, result);
  return result;
}

LoopResult RunVerify(const ThreadContext& w, Session& session) {
  const bool digests_only = w.benchmark.digests_only;
  const bool ordered = w.driver.scans != ScanSupport::kUnordered &&
                       w.config.key_shape().ordered();
  // One entry more than expected is enough to detect a surplus.
  const Oracle::Contents all = w.oracle.Sum(w.values);
  const uint64_t limit = all.entries + 1;
  Scanned received{false};
  Sequence sequence(w, Order::kForward);
  LoopResult result =
      TimeScan(w, session, Order::kForward, limit,
               [&](std::string_view key, std::string_view value) {
                 received.Add(key, value);
                 if (digests_only) return;
                 if (ordered) {
                   sequence.Visit(key, value);
                 } else {
                   w.check.VisitEntry(key, value);
                 }
               });
  const Scanned due = Written(w, Order::kForward, limit, false);
  if (digests_only && received.hash == due.hash) w.check.Accept(due.entries);
  Tally(w, result);
  result.scan_limit = limit;
  CheckComplete(w, result, all);
  result.digest = received.hash;
  if (w.driver.stores && received.hash != due.hash) {
    w.check.Fail("the bytes of a scan have another digest than those",
                 "written");
  }
  // Otherwise the caller would check the scan a second time, with a tally that
  // then includes the sampled gets.
  result.scan_limit.reset();
  if (digests_only) return result;
  SampleGets(w, session);
  SampleAbsents(w, session);
  if (ordered) SampleSeeks(w, session, all.entries);
  return result;
}

}  // namespace kvmatrix
