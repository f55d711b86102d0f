// YCSB's core workloads A to F (Cooper et al., "Benchmarking cloud serving
// systems with YCSB", SoCC 2010), as CoreWorkload.java (commit 048cbaed) and
// the files workloads/workloada to workloadf of brianfrankcooper/YCSB define
// them.
//
// Records are numbered by the order of their insertion: ordinals.  A bijection
// takes ordinals to keys, so that insertion is in no order of keys and no two
// ordinals share a key (YCSB hashes, and may merge two).

#ifndef COMMON_MIXES_YCSB_H_
#define COMMON_MIXES_YCSB_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/mixes/mix.h"
#include "common/random/permutation.h"
#include "common/random/random.h"
#include "common/random/zipf.h"
#include "common/spec/benchmark.h"

namespace kvmatrix {

// Which ordinals the operations of a workload ask for.
enum class YcsbRequest {
  kYcsbZipf,    // YCSB's "zipfian": scrambled, of 10^10 items; see YcsbZipf
  kZipf,        // the law itself, scattered by a bijection
  kUniform,     // over the records of the load
  kYcsbLatest,  // YCSB's "latest": the newest most, by Gray's formula
  kLatest,      // the same by the law itself
};

struct YcsbWorkload {
  Weights weights;
  YcsbRequest request;
};

// The definition of "ycsba" ... "ycsbf"; null for any other benchmark.
const YcsbWorkload* FindYcsb(std::string_view benchmark);

// The request distribution under --key_distribution=`name`, "" being the
// definition's.  What is a Zipf over all records stays one and what is a Zipf
// over the newest stays that; the name chooses the generator.  Nothing for a
// name that no workload knows.
std::optional<YcsbRequest> RequestOf(const YcsbWorkload& workload,
                                     std::string_view name);

// What a run is labelled with.
std::string_view RequestLabel(YcsbRequest request);

inline constexpr uint64_t kYcsbRecord = 1000;  // bytes: ten fields of 100
inline constexpr uint64_t kMinYcsbRecords = 3;
inline constexpr uint64_t kMaxYcsbScan = 100;  // entries; maxscanlength

// Of D and E, which are all that insert.
inline constexpr double kYcsbInsertShare = 0.05;

// Twice the inserts to be expected of so many operations: YCSB's own reserve.
constexpr uint64_t ExpectedInserts(uint64_t operations, double share) {
  return static_cast<uint64_t>(static_cast<double>(operations) * share * 2);
}

// Keys that the bijection is over: at least twice the records, so that a
// database can be loaded without knowing how often it will be asked, and more
// where --reads times --threads is above ten times --num.
uint64_t YcsbKeySpace(uint64_t records, uint64_t operations);

// True for the load and the six workloads.
constexpr bool IsYcsb(const Benchmark& benchmark) {
  return benchmark.name.starts_with("ycsb");
}

// True for the benchmark that inserts the records.
constexpr bool IsYcsbLoad(const Benchmark& benchmark) {
  return benchmark.name == "ycsbload";
}

// Of the bijection from ordinals to keys, for load and operations:
// Permutation(key_space, YcsbOrderSeed(master_seed)).
uint64_t YcsbOrderSeed(uint64_t master_seed);

// Draws ordinals of one thread.
class YcsbChooser {
 public:
  // `records` are there when the operations begin and `inserts` may follow.
  // `theta` is that of the law itself; YCSB's generators have 0.99.
  // REQUIRES: records >= 3
  YcsbChooser(YcsbRequest request, uint64_t records, uint64_t inserts,
              double theta, uint64_t seed);

  // An ordinal below `acknowledged`, which never falls and is at least
  // `records`.
  uint64_t Next(Random& random, uint64_t acknowledged);

  // Of a request that is not for the latest: the share of draws that a rank
  // has, 0 being the most frequent, before those of what is not there are
  // rejected, and its ordinal.
  double ShareOf(uint64_t rank) const;
  uint64_t OrdinalOf(uint64_t rank) const;

  // Of one that is: the share of draws of the newest `count`.
  double ShareOfNewest(uint64_t count, uint64_t acknowledged) const;

  // Ordinals that a draw may ask for, there or not.
  uint64_t items() const { return items_; }

  // True if several ranks may have the same ordinal.
  bool MergesRanks() const { return request_ == YcsbRequest::kYcsbZipf; }

  bool IsLatest() const {
    return request_ == YcsbRequest::kYcsbLatest ||
           request_ == YcsbRequest::kLatest;
  }

 private:
  uint64_t NextLatest(Random& random, uint64_t acknowledged);

  const YcsbRequest request_;
  const uint64_t items_;  // ordinals that a draw may give
  const double theta_;
  YcsbZipf ycsb_zipf_;
  std::optional<ZipfRanks> zipf_;  // of items_, or kLatest: of what is there
  const Permutation scatter_;

  // YCSB's "latest": zeta follows the newest ordinal, eta's first factor keeps
  // the number it was made with (ZipfianGenerator.java, commit 43f53dea, uses
  // `items` where it has been given `itemcount`).
  uint64_t zeta_items_ = 0;
  double zeta_ = 0;
  double second_ = 0;  // 1 + 2^-theta
  double eta_factor_ = 0;
  double eta_ = 0;
};

// What the threads of one workload share: which ordinals are taken, and which
// are there.  Thread-safe.
class YcsbInserts {
 public:
  // The ordinals below `records` are there.
  YcsbInserts(uint64_t records, uint64_t key_space)
      : key_space_(key_space), next_(records), acknowledged_(records) {}

  // The next ordinal to insert.  Throws std::runtime_error if none is left.
  uint64_t Take();

  // Ordinals below the result are all there.
  uint64_t acknowledged() const {
    return acknowledged_.load(std::memory_order_acquire);
  }

  // Moves acknowledged() on as long as `is_there` says so of the next ordinal.
  // To be called after each insert.  Where two inserts end at the same time the
  // second may see the first too late: acknowledged() then waits for a third.
  template <typename IsThere>
  void Acknowledge(IsThere is_there) {
    uint64_t ordinal = acknowledged();
    while (ordinal < next_.load(std::memory_order_relaxed) &&
           is_there(ordinal)) {
      if (acknowledged_.compare_exchange_weak(ordinal, ordinal + 1,
                                              std::memory_order_acq_rel)) {
        ++ordinal;
      }
    }
  }

 private:
  const uint64_t key_space_;
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> acknowledged_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_YCSB_H_
