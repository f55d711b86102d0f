#include "common/stream/leveldb_stream.h"

#include <algorithm>
#include <array>

#include "common/spec/quantities.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kMaxRange = 0x7fffffff;  // those programs use int

constexpr std::array kDbBench = {
    std::string_view("fillseq"),    std::string_view("fillbatch"),
    std::string_view("fillrandom"), std::string_view("overwrite"),
    std::string_view("fillsync"),   std::string_view("fill100K"),
    std::string_view("readseq"),    std::string_view("readreverse"),
    std::string_view("readrandom"), std::string_view("readmissing"),
    std::string_view("seekrandom"), std::string_view("seekordered"),
    std::string_view("readhot"),    std::string_view("readrandomsmall"),
    std::string_view("deleteseq"),  std::string_view("deleterandom"),
    std::string_view("compact"),    std::string_view("crc32c"),
    std::string_view("snappycomp"), std::string_view("snappyuncomp")};

constexpr std::array kOneSeed = {
    std::string_view("fillseq"),     std::string_view("fillseqbatch"),
    std::string_view("fillrandom"),  std::string_view("fillrandbatch"),
    std::string_view("overwrite"),   std::string_view("overwritebatch"),
    std::string_view("fillseqsync"), std::string_view("fillrandsync"),
    std::string_view("fillseq100K"), std::string_view("fillrand100K"),
    std::string_view("readseq"),     std::string_view("readseq100K"),
    std::string_view("readrandom"),  std::string_view("readrand100K")};

// An audit is an addition of this harness and draws nothing from the stream of
// the replayed program.
bool IsAudit(const Benchmark& benchmark) {
  return benchmark.kind == Kind::kVerify;
}

}  // namespace

std::span<const std::string_view> ReplayedBenchmarks(StreamKind kind) {
  if (kind == StreamKind::kDbBench) return kDbBench;
  return kOneSeed;
}

std::string_view StreamName(StreamKind kind) {
  // In the order of StreamKind.
  constexpr std::string_view kNames[] = {"kvmatrix", "leveldb", "leveldb-301"};
  return kNames[static_cast<int>(kind)];
}

ReplayedStream::ReplayedStream(const Config& config)
    : config_(config),
      pool_(config.compression_ratio),
      key_space_((config.num + 999) / 1000 * 1000),  // whole batches
      random_(301),
      windows_(pool_.bytes().size()) {}

void ReplayedStream::Begin(const Benchmark& benchmark) {
  if (IsAudit(benchmark)) return;
  ++begun_;
  const bool one_seed = config_.stream == StreamKind::kDbBenchOneSeed;
  if (!one_seed) {
    // db_bench seeds each thread with 1000 plus the number of threads started
    // so far, one per benchmark.
    random_ = LevelDbRandom(1000 + begun_);
    windows_ = PoolWindows(pool_.bytes().size());
  }
  order_ = benchmark.key_order;
  position_ = 0;
  value_size_ = ValueSizeOf(benchmark, config_);
  uint64_t range = config_.num;
  // The siblings draw from as many keys as they write or read; db_bench draws
  // from --num keys, and readhot from a hundredth of them.
  if (one_seed) {
    range = IsWriting(benchmark) ? config_.num / benchmark.num_divisor
                                 : ReadsOf(benchmark, config_);
  } else if (order_ == KeyOrder::kHot) {
    range = (config_.num + 99) / 100;
  }
  range_ = static_cast<uint32_t>(std::clamp<uint64_t>(range, 1, kMaxRange));
}

uint64_t ReplayedStream::NextKey() {
  switch (order_) {
    case KeyOrder::kUniform:
    case KeyOrder::kHot:
      return random_.Uniform(range_);
    case KeyOrder::kSteps:
      return position_ = (position_ + random_.Uniform(kMaxStep)) % range_;
    default:
      return position_++;
  }
}

uint64_t ReplayedStream::FoundOf(const Benchmark& benchmark) const {
  const bool prints = config_.stream == StreamKind::kDbBench &&
                      benchmark.key_order != KeyOrder::kHot;
  return prints ? config_.num : 0;
}

void ReplayedStream::Skip(uint64_t operations) {
  for (uint64_t i = 0; i < operations; ++i) NextKey();
}

std::unique_ptr<ReplayedStream> MakeReplay(const Config& config) {
  if (config.stream == StreamKind::kOwn) return nullptr;
  return std::make_unique<ReplayedStream>(config);
}

std::string DifferenceNotes(const Config& config) {
  if (config.stream != StreamKind::kOwn) return "";
  std::string text;
  const auto note = [&](auto concerns, const char* what) {
    if (std::ranges::none_of(config.benchmarks, concerns)) return;
    text += (text.empty() ? "" : "; ") + std::string(what);
  };
  note([](const Benchmark* b) { return b->key_order == KeyOrder::kUniform; },
       "random keys are a benchmark's own");
  note(
      [](const Benchmark* b) {
        return b->kind == Kind::kWrite && b->num_divisor > 1 &&
               b->key_order == KeyOrder::kUniform;
      },
      "a short fill draws from as many keys as it writes");
  note([](const Benchmark* b) { return b->kind == Kind::kWrite; },
       "writes include a flush, after which the database settles");
  note([](const Benchmark* b) { return b->kind == Kind::kRead; },
       "each read benchmark reopens the database");
  if (text.empty()) return "";
  text =
      "note: unlike in LevelDB's db_bench, which --stream=leveldb replays: " +
      text + "\n";
  const auto by_time = [](const Benchmark* b) {
    return IsFresh(*b) && b->key_order == KeyOrder::kUniform;
  };
  if (config.ends_by_time && std::ranges::any_of(config.benchmarks, by_time)) {
    text +=
        "note: unlike in RocksDB's db_bench, a random fill writes at most "
        "--num entries, whatever --duration is\n";
  }
  return text;
}

}  // namespace kvmatrix
