#include "common/benchmark.h"

#include <algorithm>

namespace kvmatrix {
namespace {

constexpr uint64_t k100K = 100'000;  // bytes: 100K of db_bench's fill100K

constexpr Benchmark kBenchmarks[] = {
    {.name = "fillseq",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kSequential,
     .summary = "write num entries in key order into a fresh database"},
    {.name = "fillrandom",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kUniform,
     .summary = "write num entries, each key drawn at random"},
    {.name = "filluniquerandom",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kUnique,
     .summary = "write every key once, in random order"},
    {.name = "overwrite",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .summary = "write num entries at random over a filled database"},
    {.name = "fillseqbatch",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kSequential,
     .batch_size = 1000,
     .summary = "fillseq in atomic batches of 1000 entries"},
    {.name = "fillrandbatch",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kUniform,
     .batch_size = 1000,
     .summary = "fillrandom in atomic batches of 1000 entries"},
    {.name = "fillseqsync",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kSequential,
     .num_divisor = 100,
     .sync = true,
     .summary = "fillseq of num/100 entries, each durable on return"},
    {.name = "fillrandsync",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kUniform,
     .num_divisor = 100,
     .sync = true,
     .summary = "fillrandom of num/100 entries, each durable on return"},
    {.name = "fillseq100K",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kSequential,
     .num_divisor = 1000,
     .value_size = k100K,
     .summary = "fillseq of num/1000 values of 100,000 bytes"},
    {.name = "fillrand100K",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kUniform,
     .num_divisor = 1000,
     .value_size = k100K,
     .summary = "fillrandom of num/1000 values of 100,000 bytes"},
    {.name = "readseq",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kSequential,
     .access = Access::kForward,
     .summary = "scan forward over at most reads entries"},
    {.name = "readreverse",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kSequential,
     .access = Access::kBackward,
     .summary = "scan backward over at most reads entries"},
    {.name = "readrandom",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .access = Access::kGet,
     .summary = "get reads keys drawn at random"},
    {.name = "getseq",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kSequential,
     .access = Access::kGet,
     .summary = "get reads keys in key order"},
    {.name = "readmissing",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .access = Access::kGetAbsent,
     .summary = "get reads keys that are absent: each lacks its last byte"},
    {.name = "readhot",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kHot,
     .access = Access::kGet,
     .summary = "get reads keys from the first hundredth of the keys"},
    {.name = "seekrandom",
     .kind = Kind::kRead,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .access = Access::kSeek,
     .summary = "open a scan at reads random keys and read one entry each"},
    {.name = "deleteseq",
     .kind = Kind::kDelete,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kSequential,
     .summary = "delete num entries in key order"},
    {.name = "deleterandom",
     .kind = Kind::kDelete,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .summary = "delete num keys drawn at random, some of them absent"},
    {.name = "ycsbload",
     .kind = Kind::kWrite,
     .prepare = Prepare::kFresh,
     .key_order = KeyOrder::kUnique,
     .summary = "insert num records in hashed order, for ycsba to ycsbf"},
    {.name = "ycsba",
     .kind = Kind::kMix,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .batch_size = 1,
     .fill = "ycsbload",
     .summary = "half reads, half updates, zipfian"},
    {.name = "ycsbb",
     .kind = Kind::kMix,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .batch_size = 1,
     .fill = "ycsbload",
     .summary = "95 % reads, 5 % updates, zipfian"},
    {.name = "ycsbc",
     .kind = Kind::kMix,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .batch_size = 1,
     .fill = "ycsbload",
     .summary = "reads, zipfian"},
    {.name = "ycsbd",
     .kind = Kind::kMix,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .batch_size = 1,
     .fill = "ycsbload",
     .summary = "95 % reads of the latest records, 5 % inserts"},
    {.name = "ycsbe",
     .kind = Kind::kMix,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .access = Access::kSeek,
     .batch_size = 1,
     .fill = "ycsbload",
     .summary = "95 % scans of 1 to 100 entries, zipfian, 5 % inserts"},
    {.name = "ycsbf",
     .kind = Kind::kMix,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kUniform,
     .batch_size = 1,
     .fill = "ycsbload",
     .summary = "half reads, half read-modify-writes, zipfian"},
    {.name = "compact",
     .kind = Kind::kCompact,
     .prepare = Prepare::kUnsettled,
     .key_order = KeyOrder::kSequential,
     .summary = "reorganise the whole database, once"},
    {.name = "verify",
     .kind = Kind::kVerify,
     .prepare = Prepare::kFilled,
     .key_order = KeyOrder::kSequential,
     .summary = "audit: every entry, sampled gets, sampled absent keys"},
};

}  // namespace

std::span<const Benchmark> AllBenchmarks() { return kBenchmarks; }

const Benchmark* FindBenchmark(std::string_view name) {
  const auto it = std::ranges::find(kBenchmarks, name, &Benchmark::name);
  return it == std::end(kBenchmarks) ? nullptr : &*it;
}

std::optional<KeyOrder> FindKeyOrder(std::string_view name) {
  constexpr std::pair<std::string_view, KeyOrder> kNames[] = {
      {"uniform", KeyOrder::kUniform},
      {"permutation", KeyOrder::kUnique},
      {"zipf", KeyOrder::kZipf},
      {"ycsb-zipf", KeyOrder::kYcsbZipf},
      {"hot", KeyOrder::kHot},
      {"latest", KeyOrder::kLatest},
      {"sequential", KeyOrder::kSequential}};
  for (const auto& [its_name, order] : kNames) {
    if (its_name == name) return order;
  }
  return std::nullopt;
}

std::string_view KindName(Kind kind) {
  constexpr std::string_view kNames[] = {"write",   "read",   "delete",
                                         "compact", "verify", "mix"};
  return kNames[static_cast<int>(kind)];
}

std::string_view PrepareName(Prepare prepare) {
  constexpr std::string_view kNames[] = {"", "filled", "unsettled"};
  return kNames[static_cast<int>(prepare)];
}

std::string_view FindsName(const Benchmark& benchmark) {
  if (benchmark.kind != Kind::kRead) return "some";
  return benchmark.access == Access::kGetAbsent ? "none" : "all";
}

}  // namespace kvmatrix
