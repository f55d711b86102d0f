// YCSB's core workloads A to F (Cooper et al., "Benchmarking cloud serving
// systems with YCSB", SoCC 2010), as defined by CoreWorkload.java (commit
// 048cbaed) and the files workloads/workloada to workloadf of
// brianfrankcooper/YCSB.
//
// Records are known by their ordinals, which key_space.h maps to keys: by a
// bijection, so that records are inserted in random key order and no two share
// a key.  (YCSB hashes instead, which may merge two records.)

#ifndef COMMON_MIXES_YCSB_H_
#define COMMON_MIXES_YCSB_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/mixes/mix.h"
#include "common/random/permutation.h"
#include "common/random/random.h"
#include "common/random/skewed_draws.h"
#include "common/random/zipf.h"
#include "common/spec/benchmark.h"
#include "common/stream/key_draw.h"

namespace kvmatrix {

// The distribution of the ordinals that operations refer to.
enum class YcsbRequest {
  kYcsbZipf,     // YCSB's "zipfian": scrambled, over 10^10 items; see YcsbZipf
  kZipf,         // the exact distribution, scattered by a bijection
  kUniform,      // over the records of the load
  kYcsbLatest,   // YCSB's "latest": newest most often, by Gray's formula
  kLatest,       // the same, with the exact distribution
  kHotspot,      // over the records of the load, of which the first are hot
  kExponential,  // newest most often; see Exponential
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
// accepts the name; YcsbRequestNames() lists those that they accept.
std::optional<YcsbRequest> RequestOf(const YcsbWorkload& workload,
                                     std::string_view name);
std::string YcsbRequestNames();

// Returns the distribution called `name` by --key_distribution that follows the
// records inserted in the run, or nothing if it has a fixed number of records.
std::optional<YcsbRequest> FindGrowing(std::string_view name);

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

// True for the load and the six workloads.
constexpr bool IsYcsb(const Benchmark& benchmark) {
  return benchmark.name.starts_with("ycsb");
}

// True for the benchmark that inserts the records.
constexpr bool IsYcsbLoad(const Benchmark& benchmark) {
  return benchmark.name == "ycsbload";
}

// Draws the ordinals of one thread.  Not thread-safe.
//
// YCSB's "zipfian" draws from more ordinals than there are records, twice the
// expected inserts, and draws again if a record is not present yet.  Here that
// reserve is at most as long as the records, so that a draw is repeated once on
// average at most, however many inserts --reads allows.  When the database has
// outgrown the reserve, the ordinals to draw from double.
class YcsbChooser {
 public:
  // For a run that starts with `records` records and may insert `inserts` more.
  // `draw` has the parameters of the distributions; YCSB's Zipfian generators
  // always have an exponent of 0.99.  REQUIRES: records >= 3
  YcsbChooser(YcsbRequest request, uint64_t records, uint64_t inserts,
              const KeyDraw& draw);

  // Returns an ordinal below `acknowledged`, the number of records present.
  // REQUIRES: acknowledged >= records, and never decreases
  uint64_t Next(Random& random, uint64_t acknowledged);

  // Makes the chooser what it is for `acknowledged` records, as Next() does.
  void GrowTo(uint64_t acknowledged);

  // For the two Zipfian distributions: the probability of a rank (0 is the most
  // frequent) before draws of absent records are rejected, and the ordinal of
  // the rank.
  double ShareOf(uint64_t rank) const;
  uint64_t OrdinalOf(uint64_t rank) const;

  // Returns the number of ordinals that a draw may yield, present or not.
  uint64_t items() const { return items_; }

  // For the distributions that favour the newest records: the probability of
  // the newest `count` of those that GrowTo() was called for.
  double ShareOfNewest(uint64_t count) const;

  // True if several ranks may map to the same ordinal.
  bool MergesRanks() const { return request_ == YcsbRequest::kYcsbZipf; }

  bool IsLatest() const {
    return request_ == YcsbRequest::kYcsbLatest ||
           request_ == YcsbRequest::kLatest ||
           request_ == YcsbRequest::kExponential;
  }
  bool IsZipf() const {
    return request_ == YcsbRequest::kYcsbZipf || request_ == YcsbRequest::kZipf;
  }
  const Hotspot& hotspot() const { return hotspot_; }
  YcsbRequest request() const { return request_; }

 private:
  uint64_t NextLatest(Random& random);
  void Zipfian();

  YcsbRequest request_;
  KeyDraw draw_;
  uint64_t items_;    // ordinals that a draw may yield
  uint64_t present_;  // records, as of the last call
  YcsbZipf ycsb_zipf_;
  Hotspot hotspot_;
  Exponential exponential_;
  std::optional<ZipfRanks>
      zipf_;  // over items_; kLatest: over the records present
  std::optional<Permutation> scatter_;  // of kZipf

  // State of the latest distributions and of kZipf.  zeta follows the number of
  // items, but in YCSB's "latest" the first factor of eta keeps the number it
  // was constructed with (ZipfianGenerator.java, commit 43f53dea, uses `items`
  // where it should use `itemcount`).
  uint64_t first_items_ = 0;
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
  explicit YcsbInserts(uint64_t records)
      : next_(records), acknowledged_(records) {}

  // Returns the next ordinal to insert.
  uint64_t Take() { return next_.fetch_add(1, std::memory_order_relaxed); }

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
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> acknowledged_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_YCSB_H_
