#include "common/scan_loop.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/key_stream.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kSampledGets = 10'000;
constexpr uint64_t kSampledAbsents = 1'000;

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
LoopResult VisitEntries(const Workload& w, Session& session, Order order,
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
  const uint64_t loop_ns = w.meter.StopNs(operations);
  const uint64_t found = w.check.found();
  return {.operations = operations,
          .loop_ns = loop_ns,
          .found = found,
          .digest = w.check.digest(),
          .bytes = found * w.config.key_size + w.check.value_bytes()};
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

LoopResult RunScan(const Workload& w, Session& session) {
  const Order order = w.benchmark.access == Access::kForward ? Order::kForward
                                                             : Order::kBackward;
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  LoopResult result = VisitEntries(w, session, order, reads, true);
  if (!w.meter.expired()) result.scan_limit = reads;
  return result;
}

LoopResult RunVerify(const Workload& w, Session& session) {
  const bool ordered = w.driver.ordered && w.config.key_shape().ordered();
  // One entry more than there should be is enough to know.
  const Oracle::Contents all = w.oracle.Sum(w.values);
  const uint64_t limit = all.entries + 1;
  LoopResult result = VisitEntries(w, session, Order::kForward, limit, ordered);
  result.scan_limit = limit;
  CheckComplete(w, result, all);
  result.scan_limit.reset();
  SampleGets(w, session);
  SampleAbsents(w, session);
  return result;
}

}  // namespace kvmatrix
