// The cost of each part of the harness, in nanoseconds per operation with
// 16-byte keys and 100-byte values.  db_bench_null shows the sum.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "common/loops/blocks.h"
#include "common/loops/scan_loop.h"
#include "common/oracle/check.h"
#include "common/oracle/oracle.h"
#include "common/oracle/write_stream.h"
#include "common/recording/tick_histogram.h"
#include "common/spec/config.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"
#include "common/stream/keys.h"
#include "common/stream/leveldb_stream.h"
#include "common/stream/values.h"
#include "common/timing/clock.h"
#include "common/timing/meter.h"
#include "common/timing/resources.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kKeys = 1'000'000;
constexpr size_t kKeySize = 16;
constexpr size_t kValueSize = 100;

const Values& TheValues() {
  static const Values values(301, kValueSize, 0.5);
  return values;
}

std::string ValueOf(uint64_t key) {
  std::string buffer(TheValues().buffer_size(), '\0');
  TheValues().Write(key, 1, buffer.data());
  buffer.resize(kValueSize);
  return buffer;
}

// The cost of a key of a permutation depends on how far the next power of four
// is above the number of keys (a twentieth for 1,000,000, but almost four times
// for 1,100,000 and 17,000,000), and on whether it exceeds 4^12, beyond which
// there is no table.
void DrawKey(benchmark::State& state, const char* distribution) {
  const KeyDraw draw(FindKeyOrder(distribution).value(), 0.99, 3);
  KeyStream keys(draw, static_cast<uint64_t>(state.range(0)), 7);
  for (auto _ : state) benchmark::DoNotOptimize(keys.Next());
  state.counters["bytes"] = sizeof(keys);
}
#define DRAW_KEY(name, distribution)             \
  BENCHMARK_CAPTURE(DrawKey, name, distribution) \
      ->ArgName("keys")                          \
      ->Arg(1'000'000)                           \
      ->Arg(1'100'000)                           \
      ->Arg(17'000'000)                          \
      ->Arg(1'000'000'000)
DRAW_KEY(sequential, "sequential");
DRAW_KEY(uniform, "uniform");
DRAW_KEY(permutation, "permutation");
DRAW_KEY(zipf, "zipf");
DRAW_KEY(ycsb_zipf, "ycsb-zipf");
DRAW_KEY(hot, "hot");
DRAW_KEY(latest, "latest");

void DrawZipfRank(benchmark::State& state) {
  const ZipfRanks ranks(kKeys, static_cast<double>(state.range(0)) / 100);
  Random random(7);
  for (auto _ : state) benchmark::DoNotOptimize(ranks(random));
}
BENCHMARK(DrawZipfRank)->ArgName("theta_%")->Arg(50)->Arg(99)->Arg(100);

void FormatKey(benchmark::State& state) {
  KeyBuffer key(kKeySize);
  uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(key.Set(++index));
}
BENCHMARK(FormatKey);

void ParseKeyBack(benchmark::State& state) {
  KeyBuffer key(kKeySize);
  const std::string_view text = key.Set(123456);
  for (auto _ : state) benchmark::DoNotOptimize(ParseKey(text, kKeySize));
}
BENCHMARK(ParseKeyBack);

void WriteValue(benchmark::State& state) {
  std::vector<char> buffer(TheValues().buffer_size());
  uint64_t key = 0;
  for (auto _ : state) {
    TheValues().Write(++key, 1, buffer.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(WriteValue);

// A value of 100 bytes on average, including the choice of its size.
void WriteValueOfSize(benchmark::State& state, const ValueSizes& sizes) {
  const Values values(301, sizes, 0.5);
  std::vector<char> buffer(values.buffer_size());
  uint64_t key = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(values.Write(++key, 1, buffer.data()));
    benchmark::ClobberMemory();
  }
}
void VerifyValue(benchmark::State& state) {
  const std::string value = ValueOf(123456);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        TheValues().IsValueOf(TheValues().Root(123456, 1), value));
  }
}
BENCHMARK(VerifyValue);

void VerifyValueOfSize(benchmark::State& state, const ValueSizes& sizes) {
  constexpr uint64_t kValues = 4096;
  const Values values(301, sizes, 0.5);
  std::vector<std::string> written(kValues);
  for (uint64_t key = 0; key < kValues; ++key) {
    std::string buffer(values.buffer_size(), '\0');
    written[key] = buffer.substr(0, values.Write(key, 1, buffer.data()));
  }
  uint64_t key = 0;
  for (auto _ : state) {
    key = (key + 1) % kValues;
    benchmark::DoNotOptimize(
        values.IsValueOf(values.Root(key, 1), written[key]));
  }
}
#define OF_SIZES(law, ...)                                           \
  BENCHMARK_CAPTURE(WriteValueOfSize, law, ValueSizes::__VA_ARGS__); \
  BENCHMARK_CAPTURE(VerifyValueOfSize, law, ValueSizes::__VA_ARGS__)
OF_SIZES(uniform, Uniform(1, 199));
OF_SIZES(normal, Normal(25, 175));
OF_SIZES(pareto, Pareto(1, 3200, 0.2615, 73.85));

void CheckGet(benchmark::State& state) {
  Oracle oracle;
  oracle.ResetToPrefix(kKeys, kValueSize, kKeys);
  Check check(oracle, TheValues(), kKeySize);
  const std::string value = ValueOf(123456);
  for (auto _ : state) check.ExpectValue(check.ExpectedOf(123456), value);
  if (!check.Reason().empty()) state.SkipWithError("the value does not match");
}
BENCHMARK(CheckGet);

void CheckAbsent(benchmark::State& state) {
  const Oracle oracle;
  Check check(oracle, TheValues(), kKeySize);
  const std::optional<std::string_view> nothing;
  for (auto _ : state) {
    check.ExpectAbsent("000000000012345", nothing);
    benchmark::DoNotOptimize(&check);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(CheckAbsent);

// Visits entries that are stored one after another, without a search.
class PreparedSession final : public Session {
 public:
  explicit PreparedSession(std::string bytes) : bytes_(std::move(bytes)) {}

  void Write(std::span<const Update>) override {}
  std::optional<std::string_view> Get(std::string_view) override { return {}; }
  void Scan(std::string_view, Order, const Visitor& visit) override {
    const char* entry = bytes_.data();
    const char* const end = entry + bytes_.size();
    for (; entry < end; entry += kKeySize + kValueSize) {
      if (!visit({entry, kKeySize}, {entry + kKeySize, kValueSize})) return;
    }
  }

 private:
  const std::string bytes_;
};

// One entry of readseq over a filled database that fits into the second-level
// cache.
void VisitEntry(benchmark::State& state, StreamKind stream, const char* fill) {
  constexpr uint64_t kScanned = 4'000;
  Config config;
  config.num = kScanned;
  config.stream = stream;
  const auto replay = MakeReplay(config);
  const Values values = replay ? Values(replay->pool(), kValueSize)
                               : Values(301, kValueSize, 0.5);
  Oracle oracle;
  oracle.Reset(kScanned, kValueSize);
  const Benchmark& written = *FindBenchmark(fill);
  if (replay) replay->Begin(written);
  WriteStream::Replay(written, DrawOf(written, config, replay.get()), 7,
                      std::vector{kScanned}, oracle);
  std::string bytes, value(values.buffer_size(), '\0');
  KeyBuffer key(kKeySize);
  uint64_t entries = 0;
  for (uint64_t k = oracle.NextPresent(0); k < kScanned;
       k = oracle.NextPresent(k + 1)) {
    values.Write(k, oracle.Version(k), value.data());
    bytes.append(key.Set(k)).append(value, 0, kValueSize);
    ++entries;
  }
  PreparedSession session(std::move(bytes));
  SteadyClock clock;
  Progress progress("");
  while (
      state.KeepRunningBatch(static_cast<benchmark::IterationCount>(entries))) {
    Check check(oracle, values, kKeySize);
    Meter meter(clock, progress, {});
    const ThreadContext context{{kDriver, *FindBenchmark("readseq"), config,
                                 values, 7, oracle, clock, progress},
                                check,
                                meter,
                                {0, 1},
                                nullptr};
    RunScan(context, session);
    if (!check.Reason().empty()) state.SkipWithError(check.Reason().c_str());
  }
}
BENCHMARK_CAPTURE(VisitEntry, own, StreamKind::kOwn, "fillseq");
BENCHMARK_CAPTURE(VisitEntry, own_random, StreamKind::kOwn, "fillrandom");
BENCHMARK_CAPTURE(VisitEntry, replayed, StreamKind::kDbBench, "fillseq");
BENCHMARK_CAPTURE(VisitEntry, replayed_random, StreamKind::kDbBench,
                  "fillrandom");

void FindNextPresent(benchmark::State& state) {
  Oracle oracle;
  oracle.Reset(kKeys, kValueSize);
  oracle.UseTable();
  for (uint64_t key = 0; key < kKeys; ++key) oracle.Put(key);
  uint64_t key = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(key = oracle.NextPresent(key + 1) % kKeys);
  }
}
BENCHMARK(FindNextPresent);

void RecordRandomWrite(benchmark::State& state) {
  Oracle oracle;
  oracle.Reset(kKeys, kValueSize);
  WriteStream stream(*FindBenchmark("fillrandom"), 7, oracle);
  for (auto _ : state) benchmark::DoNotOptimize(stream.Next());
}
BENCHMARK(RecordRandomWrite);

// For one update of a block.
void MakeUpdates(benchmark::State& state) {
  Oracle oracle;
  oracle.Reset(kKeys, kValueSize);
  WriteStream stream(*FindBenchmark("fillseq"), 7, oracle);
  UpdateBlock block(stream, TheValues(), kKeySize, 1, false);
  const auto size = static_cast<benchmark::IterationCount>(block.capacity());
  while (state.KeepRunningBatch(size)) {
    block.Fill(block.capacity());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(MakeUpdates);

void ReadClock(benchmark::State& state) {
  SteadyClock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.NowNs());
}
BENCHMARK(ReadClock);

// ordered 1: the reading waits until all earlier instructions have completed.
void ReadTicks(benchmark::State& state) {
  SteadyClock clock;
  const bool ordered = state.range(0) != 0;
  for (auto _ : state) benchmark::DoNotOptimize(clock.Ticks(ordered));
}
BENCHMARK(ReadTicks)->ArgName("ordered")->Arg(0)->Arg(1);

// Either reads the real clock and reports that a second has passed, so that a
// meter checks it after each operation; or reports the real time and counts the
// readings.
class CountingClock final : public Clock {
 public:
  explicit CountingClock(bool slow) : Clock(false), slow_(slow) {}

  uint64_t NowNs() override {
    ++readings;
    const uint64_t now_ns = steady_.NowNs();
    return slow_ ? readings * 1'000'000'000 : now_ns;
  }
  uint64_t WaitUntilNs(uint64_t) override { return NowNs(); }
  void SleepNs(uint64_t) override {}

  uint64_t readings = 0;

 private:
  SteadyClock steady_;
  const bool slow_;
};

void OneLook(benchmark::State& state) {
  CountingClock clock(true);
  Progress progress("");
  Meter meter(clock, progress, {});
  meter.Start();
  uint64_t operations = 0;
  for (auto _ : state) benchmark::DoNotOptimize(meter.Continue(++operations));
}
BENCHMARK(OneLook);

// The meter's work for each operation, without ever reading the clock.
struct Blind {
  bool Continue(uint64_t operations) const {
    return !latency && !open_loop && operations < next_look;
  }
  bool latency = false;
  bool open_loop = false;
  uint64_t next_look = std::numeric_limits<uint64_t>::max();
};

// The time of preparing that many updates, which are not written.
template <typename AnyMeter>
uint64_t LoopNs(Clock& clock, UpdateBlock& block, AnyMeter& meter,
                uint64_t operations) {
  const uint64_t start_ns = clock.NowNs();
  for (uint64_t done = 0; done < operations;) {
    block.Fill(block.capacity());
    for (size_t i = 0; i < block.capacity(); ++i) {
      benchmark::DoNotOptimize(&meter);
      benchmark::ClobberMemory();
      if (!meter.Continue(++done)) return 0;
    }
  }
  return clock.NowNs() - start_ns;
}

// The cost of all clock checks in a short loop of the fastest operations, as a
// share of its time: the minimum over many loops with them against the minimum
// without.
void LookAtTheClock(benchmark::State& state) {
  constexpr uint64_t kOperations = 1'000'000;
  SteadyClock clock;
  Progress progress("");
  Oracle oracle;
  oracle.Reset(kKeys, kValueSize);
  WriteStream stream(*FindBenchmark("fillseq"), 7, oracle);
  UpdateBlock block(stream, TheValues(), kKeySize, 1, false);
  uint64_t with_ns = std::numeric_limits<uint64_t>::max();
  uint64_t without_ns = with_ns;
  uint64_t looks = 0;
  for (auto _ : state) {
    Blind blind;
    without_ns = std::min(without_ns, LoopNs(clock, block, blind, kOperations));
    CountingClock counting(false);
    Meter meter(counting, progress, {});
    meter.Start();
    with_ns = std::min(with_ns, LoopNs(clock, block, meter, kOperations));
    looks = counting.readings;
  }
  const auto with = static_cast<double>(with_ns);
  const auto without = static_cast<double>(without_ns);
  state.counters["loop_ms"] = without / 1e6;
  state.counters["looks"] = static_cast<double>(looks);
  state.counters["share_%"] = 100 * (with / without - 1);
}
BENCHMARK(LookAtTheClock)->Unit(benchmark::kMillisecond);

void AddToHistogram(benchmark::State& state) {
  TickHistogram histogram;
  uint64_t ticks = 0;
  for (auto _ : state) histogram.Add(ticks += 13);
}
BENCHMARK(AddToHistogram);

// The remaining costs occur a few times per benchmark, outside of what is
// timed.

void CountResources(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Resources::Now());
}
BENCHMARK(CountResources);

void ReadResidentMemory(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ResidentMemory::Now("/proc"));
}
BENCHMARK(ReadResidentMemory);

void CountEntries(benchmark::State& state) {
  Oracle oracle;
  oracle.Reset(kKeys, kValueSize);
  oracle.UseTable();
  for (auto _ : state) benchmark::DoNotOptimize(oracle.Entries());
}
BENCHMARK(CountEntries);

}  // namespace
}  // namespace kvmatrix

BENCHMARK_MAIN();
