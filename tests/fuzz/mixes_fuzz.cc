// What flags describe can be drawn: keys, sizes and values, the operations of
// mixes, and the schedule of an open loop.

#include <algorithm>

#include "common/loops/parallel_run.h"
#include "common/mixes/graph_mix.h"
#include "common/mixes/key_space.h"
#include "common/mixes/mixes.h"
#include "common/mixes/ycsb.h"
#include "common/oracle/oracle.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"
#include "common/stream/values.h"
#include "common/timing/open_loop.h"
#include "tests/fuzz/words.h"
#include "tests/timing/fake_clock.h"

namespace kvmatrix::fuzz {
namespace {

constexpr uint64_t kDraws = 50;
constexpr uint64_t kMaxBenchmarks = 4;      // of one input
constexpr uint64_t kMaxMixedKeys = 20'000;  // a mix has a table of its keys
constexpr size_t kMaxBytes = 100'000;       // of a value

void DrawKeys(const Benchmark& benchmark, const Config& config) {
  const std::unique_ptr<ReplayedStream> replay = MakeReplay(config);
  if (replay) replay->Begin(benchmark);
  const uint64_t keys =
      replay ? replay->key_space() : KeySpaceOf(benchmark, config);
  for (const uint64_t thread : {uint64_t{0}, config.threads - 1}) {
    KeyStream stream(DrawOf(benchmark, config, replay.get()), keys, config.seed,
                     {thread, config.threads});
    const uint64_t draws = replay ? std::min(kDraws, keys) : kDraws;
    for (uint64_t i = 0; i < draws; ++i) {
      Require(stream.Next() < keys, "a key is within the key space");
    }
  }
}

void DrawValues(const Benchmark& benchmark, const Config& config) {
  const ValueSizes sizes = SizesOf(config, ValueSizeOf(benchmark, config));
  const Values values(config.seed, sizes, config.compression_ratio);
  const double mean = sizes.Mean();
  Require(mean >= static_cast<double>(sizes.min()) &&
              mean <= static_cast<double>(sizes.max()) * 1.001 + 1,
          "a mean size is between the bounds");
  std::string buffer;
  if (sizes.max() <= kMaxBytes) buffer.resize(values.buffer_size());
  for (uint32_t version = 1; version <= kDraws; ++version) {
    const uint64_t root = values.Root(config.seed, version);
    const size_t size = values.SizeOf(root);
    Require(sizes.min() <= size && size <= sizes.max(), "the bounds of sizes");
    Require(size == sizes.ComputeOf(root), "the table of sizes is exact");
    if (buffer.empty()) continue;
    Require(values.Write(config.seed, version, buffer.data()) == size,
            "a value has its size");
    Require(values.IsValueOf(root, std::string_view(buffer).substr(0, size)),
            "a value is recognised");
  }
}

void RequireStep(const MixStep& step, const Config& config, uint64_t keys) {
  const MixgraphParameters& p = config.mix.mixgraph;
  Require(step.key < keys, "a mix has keys of the key space");
  const uint64_t longest =
      std::max({kMaxYcsbScan, p.mix_max_scan_len, config.mix.scan_length,
                config.mix.max_scan_length});
  Require(step.scan_length <= longest, "the length of a scan");
  if (!step.value_size) return;
  Require(*step.value_size <= std::max(p.mix_max_value_size, kMinMixgraphValue),
          "the size of a put");
}

void DrawMix(const Benchmark& benchmark, const Config& config) {
  const uint64_t keys = KeySpaceOf(benchmark, config);
  if (!IsMix(benchmark) || keys > kMaxMixedKeys || config.num > keys) return;
  Oracle oracle;
  oracle.ResetToPrefix(keys, ValueSizeOf(benchmark, config), config.num);
  std::unique_ptr<Mix> mix;
  try {
    mix = MakeMix(benchmark, config, oracle);
  } catch (const std::runtime_error&) {
    return;  // not the database that it needs
  }
  for (const uint64_t thread : {uint64_t{0}, config.threads - 1}) {
    const auto stream = mix->NewStream(config.seed, {thread, config.threads});
    for (uint64_t i = 0; i < std::min(kDraws, config.reads); ++i) {
      const MixStep step = stream->Next();
      RequireStep(step, config, oracle.key_space());
      if (Puts(step.operation)) oracle.Put(step.key);
      stream->Done(step);
    }
  }
  for (const Share& share : mix->Shares(config.seed, kDraws)) {
    Require(share.observed >= 0 && share.expected >= 0, "a share is a number");
  }
}

void Schedule(const Benchmark& benchmark, const Config& config) {
  const bool swings = Swings(benchmark, config);
  const double rate =
      swings ? config.mix.mixgraph.sine_d : config.rate_ops_per_sec;
  if (rate == 0) return;
  FakeClock clock;
  OpenLoop loop(clock, rate / static_cast<double>(config.threads),
                Arrivals(config.seed, {0, config.threads}),
                swings ? SwingOf(config) : Swing{});
  loop.Start(clock.NowNs());
  uint64_t last_ns = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const uint64_t due_ns = loop.DueNs(BatchSizeOf(benchmark, config));
    Require(due_ns >= last_ns, "a schedule does not go back");
    last_ns = due_ns;
    loop.Await(BatchSizeOf(benchmark, config));
    loop.Finish();
  }
  Require(loop.Figures().offered_ops_per_sec >= 0, "the offered rate");
}

}  // namespace
}  // namespace kvmatrix::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kvmatrix;
  const std::optional<Config> config =
      fuzz::ConfigOfInput({reinterpret_cast<const char*>(data), size});
  if (!config) return 0;
  const size_t some =
      std::min(config->benchmarks.size(), size_t{fuzz::kMaxBenchmarks});
  for (size_t i = 0; i < some; ++i) {
    const Benchmark& benchmark = *config->benchmarks[i];
    fuzz::DrawKeys(benchmark, *config);
    fuzz::DrawValues(benchmark, *config);
    fuzz::DrawMix(benchmark, *config);
    fuzz::Schedule(benchmark, *config);
  }
  return 0;
}
