// YCSB's core workloads A to F (Cooper et al., "Benchmarking cloud serving
// systems with YCSB", SoCC 2010), as defined by CoreWorkload.java (commit
// 048cbaed) and the files workloads/workloada to workloadf of
// brianfrankcooper/YCSB.
//
// Records are numbered in the order of their insertion; these numbers are
// called ordinals.  A bijection maps ordinals to keys, so that records are
// inserted in random key order and no two share a key.  (YCSB hashes instead,
// which may merge two records.)

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

// The distribution of the ordinals that operations refer to.
enum class YcsbRequest {
  kYcsbZipf,    // YCSB's "zipfian": scrambled, over 10^10 items; see YcsbZipf
  kZipf,        // the exact distribution, scattered by a bijection
  kUniform,     // over the records of the load
  kYcsbLatest,  // YCSB's "latest": newest most often, by Gray's formula
  kLatest,      // the same, with the exact distribution
};

// The definition of one workload.
struct YcsbWorkload {
  Weights weights;
  YcsbRequest request;
};

// Returns the definition of "ycsba" to "ycsbf", or null for any other name.
const YcsbWorkload* FindYcsb(std::string_view benchmark);

// Returns the request distribution under --key_distribution=`name`, where "" is
// the workload's own.  The name selects the generator only: a workload whose
// requests favour the newest records keeps doing so.  Nothing if no workload
// accepts the name.
std::optional<YcsbRequest> RequestOf(const YcsbWorkload& workload,
                                     std::string_view name);

// Returns the label of results.
std::string_view RequestLabel(YcsbRequest request);

// Constants of CoreWorkload: record size, smallest number of records that its
// generators accept, and maxscanlength.
inline constexpr uint64_t kYcsbRecord = 1000;  // bytes: ten fields of 100
inline constexpr uint64_t kMinYcsbRecords = 3;
inline constexpr uint64_t kMaxYcsbScan = 100;  // entries; maxscanlength

// The share of inserts in D and E; the others do not insert.
inline constexpr double kYcsbInsertShare = 0.05;

// Returns twice the expected number of inserts, which is the reserve that YCSB
// itself plans for.
constexpr uint64_t ExpectedInserts(uint64_t operations, double share) {
  return static_cast<uint64_t>(static_cast<double>(operations) * share * 2);
}

// Returns the size of the key space for a load of `records` and a run of
// `operations` operations: at least twice the records, so that a database can
// be loaded without knowing the run that follows, and more if --reads times
// --threads exceeds ten times --num.
uint64_t YcsbKeySpace(uint64_t records, uint64_t operations);

// True for the load and the six workloads.
constexpr bool IsYcsb(const Benchmark& benchmark) {
  return benchmark.name.starts_with("ycsb");
}

// True for the load and every mix that runs on its records.
constexpr bool UsesYcsbRecords(const Benchmark& benchmark) {
  return IsYcsb(benchmark) || benchmark.fill == "ycsbload";
}

// True for the benchmark that inserts the records.
constexpr bool IsYcsbLoad(const Benchmark& benchmark) {
  return benchmark.name == "ycsbload";
}

// The seed of the bijection from ordinals to keys, which load and workloads
// share: Permutation(key_space, YcsbOrderSeed(master_seed)).
uint64_t YcsbOrderSeed(uint64_t master_seed);

// Draws the ordinals of one thread.  Not thread-safe.
class YcsbChooser {
 public:
  // For a run that starts with `records` records and may insert `inserts` more.
  // `theta` is the exponent of the true laws; YCSB's generators always have
  // 0.99.  REQUIRES: records >= 3
  YcsbChooser(YcsbRequest request, uint64_t records, uint64_t inserts,
              double theta, uint64_t seed);

  // Returns an ordinal below `acknowledged`, the number of records present.
  // REQUIRES: acknowledged >= records, and never decreases
  uint64_t Next(Random& random, uint64_t acknowledged);

  // For distributions other than "latest": the probability of a rank (0 is the
  // most frequent) before draws of absent records are rejected, and the ordinal
  // of the rank.
  double ShareOf(uint64_t rank) const;
  uint64_t OrdinalOf(uint64_t rank) const;

  // For "latest": the probability of the newest `count` records.
  double ShareOfNewest(uint64_t count, uint64_t acknowledged) const;

  // Returns the number of ordinals that a draw may yield, present or not.
  uint64_t items() const { return items_; }

  // True if several ranks may map to the same ordinal.
  bool MergesRanks() const { return request_ == YcsbRequest::kYcsbZipf; }

  bool IsLatest() const {
    return request_ == YcsbRequest::kYcsbLatest ||
           request_ == YcsbRequest::kLatest;
  }

 private:
  uint64_t NextLatest(Random& random, uint64_t acknowledged);

  const YcsbRequest request_;
  const uint64_t items_;  // ordinals that a draw may yield
  const double theta_;
  YcsbZipf ycsb_zipf_;
  std::optional<ZipfRanks>
      zipf_;  // over items_; kLatest: over the records present
  const Permutation scatter_;

  // State of YCSB's "latest". zeta follows the newest ordinal, but the first
  // factor of eta keeps the number of items it was constructed with
  // (ZipfianGenerator.java, commit 43f53dea, uses `items` where it should use
  // `itemcount`).
  uint64_t zeta_items_ = 0;
  double zeta_ = 0;
  double second_ = 0;  // 1 + 2^-theta
  double eta_factor_ = 0;
  double eta_ = 0;
};

// The inserts of all threads of a workload: which ordinals are taken and which
// are present.  Thread-safe.
class YcsbInserts {
 public:
  // Ordinals below `records` are present.
  YcsbInserts(uint64_t records, uint64_t key_space)
      : key_space_(key_space), next_(records), acknowledged_(records) {}

  // Returns the next ordinal to insert.  Throws std::runtime_error if the key
  // space is exhausted.
  uint64_t Take();

  // Every ordinal below the result is present.
  uint64_t acknowledged() const {
    return acknowledged_.load(std::memory_order_acquire);
  }

  // Called after each insert: advances acknowledged() over all following
  // ordinals for which `is_there` is true.  If two inserts end at the same
  // moment, each may miss the other, and acknowledged() advances only with the
  // next insert.
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
