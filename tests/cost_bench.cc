// What each part of the harness costs, in nanoseconds for one operation of
// 16-byte keys and 100-byte values.  db_bench_null shows the sum.

#include <benchmark/benchmark.h>

#include <vector>

#include "common/blocks.h"
#include "common/check.h"
#include "common/clock.h"
#include "common/key_stream.h"
#include "common/keys.h"
#include "common/oracle.h"
#include "common/resources.h"
#include "common/tick_histogram.h"
#include "common/values.h"
#include "common/write_stream.h"

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

void DrawKey(benchmark::State& state) {
  KeyStream keys(static_cast<KeyOrder>(state.range(0)), kKeys, 7);
  for (auto _ : state) benchmark::DoNotOptimize(keys.Next());
}
BENCHMARK(DrawKey)
    ->ArgName("order")
    ->Arg(static_cast<int>(KeyOrder::kSequential))
    ->Arg(static_cast<int>(KeyOrder::kUniform))
    ->Arg(static_cast<int>(KeyOrder::kUnique));

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

void VerifyValue(benchmark::State& state) {
  const std::string value = ValueOf(123456);
  for (auto _ : state) {
    benchmark::DoNotOptimize(TheValues().Matches(123456, 1, value));
  }
}
BENCHMARK(VerifyValue);

void CheckGet(benchmark::State& state) {
  Oracle oracle;
  oracle.ResetToPrefix(kKeys, kValueSize, kKeys);
  Check check(oracle, TheValues(), kKeySize);
  const std::string value = ValueOf(123456);
  for (auto _ : state) check.Got(123456, value);
  if (check.failures() > 0) state.SkipWithError("the value does not match");
}
BENCHMARK(CheckGet);

void CheckAbsent(benchmark::State& state) {
  const Oracle oracle;
  Check check(oracle, TheValues(), kKeySize);
  const std::optional<std::string_view> nothing;
  for (auto _ : state) {
    check.GotAbsent("000000000012345", nothing);
    benchmark::DoNotOptimize(check.failures());
  }
}
BENCHMARK(CheckAbsent);

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

void AddToHistogram(benchmark::State& state) {
  TickHistogram histogram;
  uint64_t ticks = 0;
  for (auto _ : state) histogram.Add(ticks += 13);
}
BENCHMARK(AddToHistogram);

// The rest is paid a few times in a whole benchmark, outside of what is timed.

void CountResources(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Resources::Now());
}
BENCHMARK(CountResources);

void ReadResidentMemory(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ResidentMemory::Now());
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
