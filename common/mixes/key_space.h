// The key space of a benchmark, and the keys of YCSB's records in it.

#ifndef COMMON_MIXES_KEY_SPACE_H_
#define COMMON_MIXES_KEY_SPACE_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "common/random/permutation.h"
#include "common/random/random.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"
#include "common/spec/quantities.h"

namespace kvmatrix {

// Returns the size of the key space for a load of `records`: twice as many and
// a few more, so that records inserted later fall between those of the load.
constexpr uint64_t YcsbKeySpace(uint64_t records) {
  constexpr uint64_t kFew = 64;
  return 2 * records + kFew;
}

// Returns the number of keys from which the benchmark draws, and every later
// one on the same database unless a mix inserts more records than fit: keys are
// below it.  At least one.
//
// The runner gives the oracle this size when the benchmark fills a database.  A
// replayed stream has a key space of its own.
inline uint64_t KeySpaceOf(const Benchmark& benchmark, const Config& config) {
  return UsesYcsbRecords(benchmark) ? YcsbKeySpace(config.num)
                                    : EntriesOf(benchmark, config);
}

// The seed of the bijection from ordinals to keys, which load and workloads
// share.
constexpr uint64_t YcsbOrderSeed(uint64_t master_seed) {
  return StreamSeed(master_seed, "ycsb order", 0);
}

// From records to keys.  Records are numbered in the order of their insertion;
// these numbers are called ordinals.  With --insert_order=hashed the first
// ordinals, as many as the key space of the load has keys, are mapped to those
// keys by a bijection; those that follow to as many keys behind them, and so
// on: the key space doubles whenever it is full.  With --insert_order=ordered
// the key is the ordinal.
//
// Immutable; thread-safe.
class RecordOrder {
 public:
  explicit RecordOrder(const Config& config)
      : ordered_(config.mix.insert_order == "ordered"),
        keys_(YcsbKeySpace(config.num)),
        first_(keys_, YcsbOrderSeed(config.seed)) {
    for (uint64_t part = keys_; part < kMaxKeys; part *= 2) {
      later_.emplace_back(
          part, StreamSeed(YcsbOrderSeed(config.seed), "later", later_.size()));
    }
  }

  // Returns the key of a record.  REQUIRES: ordinal < kMaxKeys
  uint64_t operator()(uint64_t ordinal) const {
    if (ordered_) return ordinal;
    if (ordinal < keys_) return first_(ordinal);
    const size_t part = PartOf(ordinal);
    const uint64_t begin = keys_ << part;
    return begin + later_[part](ordinal - begin);
  }

  // Returns the record of a key: (*this)(Inverse(key)) == key.
  uint64_t Inverse(uint64_t key) const {
    if (ordered_) return key;
    if (key < keys_) return first_.Inverse(key);
    const size_t part = PartOf(key);
    const uint64_t begin = keys_ << part;
    return begin + later_[part].Inverse(key - begin);
  }

  // Returns the size of the key space that has the keys of the first `records`
  // records: that of the load, or twice, four times, ... as many.
  // REQUIRES: records <= kMaxKeys
  uint64_t KeySpaceFor(uint64_t records) const {
    return records <= keys_ ? keys_ : keys_ << (PartOf(records - 1) + 1);
  }

 private:
  // Part p begins at keys_ times 2^p.
  size_t PartOf(uint64_t number) const {
    return std::bit_width(number / keys_) - 1;
  }

  bool ordered_;
  uint64_t keys_;
  Permutation first_;
  std::vector<Permutation> later_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_KEY_SPACE_H_
