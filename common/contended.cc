#include "common/contended.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/claimed_updates.h"
#include "common/key_stream.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

// Which operations are gets, from a stream of its own: whether a key is read
// or written says nothing about the key.
class Choice {
 public:
  Choice(uint64_t stream_seed, const Part& part, uint64_t percent)
      : random_(StreamSeed(part.Seed(stream_seed), "operations", 0)),
        percent_(percent) {}

  bool NextIsGet() { return random_.Uniform(100) < percent_; }

 private:
  Random random_;
  const uint64_t percent_;
};

KeyStream WriterKeys(uint64_t stream_seed, const Oracle& oracle) {
  return {KeyOrder::kUniform, oracle.key_space(),
          StreamSeed(stream_seed, "writer", 0)};
}

// Gets keys and compares each answer with what was due meanwhile.
class Getter {
 public:
  Getter(const Workload& workload, Session& session)
      : w_(workload), session_(session), buffer_(w_.config.key_shape()) {}

  void Get(uint64_t key) {
    const std::string_view wanted = buffer_.Set(key);
    const Oracle::Observed before = w_.oracle.Observe(key);
    w_.meter.Prepared();
    const std::optional<std::string_view> value = session_.Get(wanted);
    w_.check.GotWithin(key, before, w_.oracle.Observe(key), value);
  }

 private:
  const Workload& w_;
  Session& session_;
  KeyBuffer buffer_;
};

// One seek: what was there before it, and what it lands on.
class Seeker {
 public:
  Seeker(const Workload& workload, Session& session)
      : w_(workload), session_(session), buffer_(w_.config.key_shape()) {}

  // True if it lands on `key` itself.
  bool Seek(uint64_t key) {
    present_ = w_.oracle.NextPresent(key);
    before_ = w_.oracle.Observe(present_);
    landed_ = w_.oracle.key_space();
    const std::string_view wanted = buffer_.Set(key);
    w_.meter.Prepared();
    session_.Scan(wanted, Order::kForward,
                  [this](std::string_view at, std::string_view value) {
                    Visit(at, value);
                    return false;
                  });
    // Others may have put keys in between, and have deleted none.
    if (landed_ < key || landed_ > present_) {
      w_.check.Fail("a seek lands on the wrong entry, sought", wanted);
    }
    if (landed_ == key) value_bytes_ += landed_bytes_;
    return landed_ == key;
  }

  // Of the values of the keys that were sought and there.
  uint64_t value_bytes() const { return value_bytes_; }

 private:
  void Visit(std::string_view at, std::string_view value) {
    const std::optional<uint64_t> index = w_.check.KeyOf(at);
    if (!index) return;
    landed_ = *index;
    landed_bytes_ = value.size();
    const Oracle::Observed before =
        landed_ == present_ ? before_ : Oracle::Appeared();
    w_.check.GotWithin(landed_, before, w_.oracle.Observe(landed_), value);
  }

  const Workload& w_;
  Session& session_;
  KeyBuffer buffer_;
  uint64_t present_ = 0;  // the first present key from there on, before it
  Oracle::Observed before_{};
  uint64_t landed_ = 0;
  uint64_t landed_bytes_ = 0;
  uint64_t value_bytes_ = 0;
};

// Calls `operation` with --reads keys of the benchmark, and `after` once each
// is counted.
template <typename Operation, typename After>
uint64_t ForEachKey(const Workload& w, Operation operation, After after) {
  KeyStream keys(DrawOf(w.benchmark, w.config, w.replay), w.oracle.key_space(),
                 w.stream_seed, w.part);
  const uint64_t reads = ReadsOf(w.benchmark, w.config);
  constexpr size_t kAhead = 32;
  uint64_t ahead[kAhead];
  for (uint64_t& key : ahead) key = keys.Next();
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < reads && w.meter.IsInTime(1)) {
    const uint64_t key = std::exchange(ahead[operations % kAhead], keys.Next());
    w.oracle.Prefetch(ahead[operations % kAhead]);
    w.meter.Begin(1);
    operation(key);
    more = w.meter.Continue(++operations);
    after();
  }
  return operations;
}

}  // namespace

LoopResult RunClaimedWrites(const Workload& w, Session& session,
                            WriteStream& stream, uint64_t entries,
                            uint64_t batch_size) {
  ClaimedUpdates updates(w.oracle, w.values, w.config.key_shape(), batch_size,
                         w.benchmark.kind == Kind::kDelete);
  std::vector<uint64_t> keys;
  uint64_t operations = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < entries) {
    keys.resize(std::min(batch_size, entries - operations));
    if (!w.meter.IsInTime(keys.size())) break;
    for (uint64_t& key : keys) key = stream.NextKey();
    w.meter.Begin(keys.size());
    const std::span<const Update> batch = updates.Claim(keys);
    w.meter.Prepared();
    session.Write(batch);
    updates.Publish();
    operations += keys.size();
    more = w.meter.Continue(operations);
  }
  return {operations, w.meter.StopNs(operations), 0, 0, updates.value_bytes()};
}

LoopResult RunContendedGets(const Workload& w, Session& session) {
  Getter getter(w, session);
  const uint64_t operations =
      ForEachKey(w, [&getter](uint64_t key) { getter.Get(key); }, [] {});
  return {operations, w.meter.StopNs(operations), w.check.found(),
          w.check.digest(), w.check.value_bytes()};
}

LoopResult RunContendedSeeks(const Workload& w, Session& session) {
  Seeker seeker(w, session);
  uint64_t found = 0;
  const uint64_t operations =
      ForEachKey(w, [&](uint64_t key) { found += seeker.Seek(key); }, [] {});
  return {operations, w.meter.StopNs(operations), found, w.check.digest(),
          seeker.value_bytes()};
}

LoopResult RunReadsAndWrites(const Workload& w, Session& session) {
  Getter getter(w, session);
  ClaimedUpdates updates(w.oracle, w.values, w.config.key_shape(), 1, false);
  Choice choice(w.stream_seed, w.part, w.config.readwritepercent);
  LoopResult result{};
  bool gets = false;
  const auto operate = [&](uint64_t key) {
    gets = choice.NextIsGet();
    if (gets) return getter.Get(key);
    const std::span<const Update> update = updates.Claim({&key, 1});
    w.meter.Prepared();
    session.Write(update);
    updates.Publish();
  };
  const auto count = [&] {
    const char* const type = gets ? "read" : "update";
    ++result.by_type[type];
    if (!w.meter.times_calls()) return;
    result.latency_by_type[type].Add(w.meter.last_call());
  };
  result.operations = ForEachKey(w, operate, count);
  result.loop_ns = w.meter.StopNs(result.operations);
  result.found = w.check.found();
  result.digest = w.check.digest();
  const auto puts = result.by_type.find("update");
  const uint64_t entries =
      result.found + (puts == result.by_type.end() ? 0 : puts->second);
  result.bytes = entries * w.config.key_size + w.check.value_bytes() +
                 updates.value_bytes();
  return result;
}

void ReplayReadsAndWrites(const Benchmark& benchmark, const Config& config,
                          uint64_t stream_seed,
                          std::span<const uint64_t> operations,
                          Oracle& oracle) {
  oracle.UseTable();
  for (uint64_t thread = 0; thread < operations.size(); ++thread) {
    const Part part{thread, operations.size()};
    KeyStream keys(DrawOf(benchmark, config, nullptr), oracle.key_space(),
                   stream_seed, part);
    Choice choice(stream_seed, part, config.readwritepercent);
    for (uint64_t i = 0; i < operations[thread]; ++i) {
      const uint64_t key = keys.Next();
      if (!choice.NextIsGet()) oracle.Put(key);
    }
  }
}

LoopResult RunWriter(const Workload& w, Session& session, Clock& clock) {
  constexpr uint64_t kLongestWaitNs = 10'000'000;
  KeyStream keys = WriterKeys(w.stream_seed, w.oracle);
  ClaimedUpdates updates(w.oracle, w.values, w.config.key_shape(), 1, false);
  uint64_t operations = 0;
  w.meter.Start();
  const uint64_t start_ns = w.meter.start_ns();
  const auto is_due = [&] {
    if (w.config.writes_per_second == 0) return true;
    const auto ns = static_cast<unsigned __int128>(operations) * kNsPerSecond /
                    w.config.writes_per_second;
    const uint64_t due_ns = start_ns + static_cast<uint64_t>(ns);
    const uint64_t now_ns = clock.NowNs();
    if (now_ns >= due_ns) return true;
    return clock.WaitUntilNs(std::min(due_ns, now_ns + kLongestWaitNs)) >=
           due_ns;
  };
  while (!w.crew->finished()) {
    if (!is_due()) continue;
    const uint64_t key = keys.Next();
    const std::span<const Update> update = updates.Claim({&key, 1});
    w.meter.Prepared();
    session.Write(update);
    updates.Publish();
    w.meter.Continue(++operations);
    if (operations == 1) w.crew->AtWork();
  }
  return {operations, w.meter.StopNs(operations), 0, 0, updates.value_bytes()};
}

void ReplayWriter(uint64_t stream_seed, uint64_t operations, Oracle& oracle) {
  oracle.UseTable();
  KeyStream keys = WriterKeys(stream_seed, oracle);
  for (uint64_t i = 0; i < operations; ++i) oracle.Put(keys.Next());
}

}  // namespace kvmatrix
