// How much a benchmark does under a configuration: entries, reads, bytes.
//
// Each function resolves what the table of benchmarks leaves open ("0: as the
// flags say") or divides.
//
// Pure functions of their arguments.

#ifndef COMMON_SPEC_QUANTITIES_H_
#define COMMON_SPEC_QUANTITIES_H_

#include <algorithm>
#include <cstdint>

#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Returns the entries that a writing benchmark writes with all its threads, at
// least one; see ThreadShare::CountOf() for those of a thread.  A replayed
// program writes whole batches only, so there the number is rounded up to a
// multiple of the batch size.
inline uint64_t EntriesOf(const Benchmark& benchmark, const Config& config) {
  uint64_t entries = config.num / benchmark.num_divisor;
  if (config.stream != StreamKind::kOwn && benchmark.batch_size > 1) {
    entries += benchmark.batch_size - 1;
    entries -= entries % benchmark.batch_size;
  }
  return entries == 0 ? 1 : entries;
}

// True if a time limit alone may end the benchmark: it need not do a fixed
// amount of work.  False for a fill, whose database has --num entries, for what
// visits each entry once, and for a replay, whose program has no such limit.
inline bool MayEndByTime(const Benchmark& benchmark, const Config& config) {
  const bool once = IsOneCall(benchmark) || IsFresh(benchmark) ||
                    benchmark.kind == Kind::kPrimitive ||
                    (benchmark.kind == Kind::kDelete &&
                     benchmark.key_order == KeyOrder::kSequential);
  return config.stream == StreamKind::kOwn && !once;
}

// True if the time limit alone ends the benchmark.
inline bool EndsByTime(const Benchmark& benchmark, const Config& config) {
  return config.ends_by_time && MayEndByTime(benchmark, config);
}

// Returns the entries that a writing benchmark writes at most.
inline uint64_t WritesOf(const Benchmark& benchmark, const Config& config) {
  return EndsByTime(benchmark, config) ? kMaxKeys
                                       : EntriesOf(benchmark, config);
}

// Returns the operations that each thread of a read benchmark or a mix
// performs at most, at least one (threads do not share --reads); for a scan of
// the whole database the largest number of entries that it visits.
inline uint64_t ReadsOf(const Benchmark& benchmark, const Config& config) {
  if (EndsByTime(benchmark, config)) return kMaxKeys;
  const uint64_t reads = config.reads / benchmark.num_divisor;
  return reads == 0 ? 1 : reads;
}

// Returns the bytes of a value, or their mean where sizes vary.  May be 0.  For
// a benchmark that does not fill the database itself, the values there may have
// another size: that of the benchmark that filled it.
inline uint64_t ValueSizeOf(const Benchmark& benchmark, const Config& config) {
  return benchmark.value_size == 0 ? config.value_size : benchmark.value_size;
}

// Returns the entries per Write(): the benchmark's own number, else the number
// that --transactions implies, else --batch_size.  At least one.  The last
// batch of a thread may be smaller.
inline uint64_t BatchSizeOf(const Benchmark& benchmark, const Config& config) {
  if (benchmark.batch_size != 0) return benchmark.batch_size;
  if (config.transactions == 0) return config.batch_size;
  return std::max<uint64_t>(1,
                            EntriesOf(benchmark, config) / config.transactions);
}

// Returns the durability of the benchmark's writes: that of the options with
// which its database is opened.
inline Durability DurabilityOf(const Benchmark& benchmark,
                               const Config& config) {
  return benchmark.sync ? Durability::kDurable : config.durability;
}

// True if the benchmark runs for config.warmup_ns before it is measured: it
// gets, seeks or mixes, and its threads are the only ones.
inline bool WarmsUp(const Benchmark& benchmark, const Config& config) {
  const bool by_key = benchmark.kind == Kind::kRead && !IsOneCall(benchmark);
  return config.warmup_ns > 0 && !benchmark.writer &&
         (by_key || IsMix(benchmark));
}

// True for YCSB's load and every mix that runs on its records.
constexpr bool UsesYcsbRecords(const Benchmark& benchmark) {
  return benchmark.name == "ycsbload" || benchmark.fill == "ycsbload";
}

// True if the records of YCSB's load are inserted in the order of their keys.
inline bool InsertsInOrder(const Benchmark& benchmark, const Config& config) {
  return UsesYcsbRecords(benchmark) && config.mix.insert_order == "ordered";
}

// True if an update gets the record before it puts it: it changes one field of
// several, so that a store of whole values must.
inline bool UpdatesGet(const Benchmark& benchmark, const Config& config) {
  if (!UsesYcsbRecords(benchmark) || config.mix.writeallfields) return false;
  const uint64_t its_own = IsShareMix(benchmark) ? 1 : 10;
  const uint64_t fields = config.mix.fieldcount;
  return (fields == 0 ? its_own : fields) > 1;
}

// True if the benchmark is a mix by shares that has this operation.
inline bool Mixes(Operation operation, const Benchmark& benchmark,
                  const Config& config) {
  return IsShareMix(benchmark) &&
         config.mix.shares[static_cast<size_t>(operation)] > 0;
}

// True if some scan of the benchmark goes backward.
inline bool ScansBackward(const Benchmark& benchmark, const Config& config) {
  return benchmark.access == Access::kBackward ||
         (config.reverse_iterator && benchmark.kind == Kind::kRead &&
          benchmark.access == Access::kSeek) ||
         Mixes(Operation::kScanReverse, benchmark, config);
}

// True if the benchmark scans, so that the engine must keep its keys in order.
inline bool NeedsKeyOrder(const Benchmark& benchmark, const Config& config) {
  return benchmark.access == Access::kSeek ||
         benchmark.access == Access::kForward ||
         Mixes(Operation::kScan, benchmark, config) ||
         ScansBackward(benchmark, config);
}

}  // namespace kvmatrix

#endif  // COMMON_SPEC_QUANTITIES_H_
