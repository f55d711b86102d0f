// The share of YCSB's draws that must fall on the most frequent records.

#ifndef COMMON_MIXES_YCSB_THEORY_H_
#define COMMON_MIXES_YCSB_THEORY_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/mixes/ycsb.h"
#include "common/recording/loop_result.h"

namespace kvmatrix {

// A set of records, and the share that the chooser's distribution gives it. For
// the distributions that favour the newest records, the newest hundredth of as
// many as there were at the start; for a hot spot, the records in it; otherwise
// the hottest hundredth of the start, by rank.  At most 100,000 ranks, whose
// ordinals fit into memory.
//
// The theory is that of each draw: while the database grows, so do the
// distributions, and a share at some size in between would not be the mean of
// all.
//
//   CheckedRecords records(chooser, 1000);
//   records.Count(ordinal, present);     // for each draw
//   const Share share = records.Result();
//
// Takes some 100 ms and 20 MB however many records there are, once and whenever
// the chooser doubles its ordinals.  Not thread-safe.
class CheckedRecords {
 public:
  // `chooser` is that of the start, with `records` records.
  CheckedRecords(const YcsbChooser& chooser, uint64_t records);

  // Counts a draw that was made with `present` records and yielded `ordinal`.
  // REQUIRES: `present` never decreases
  void Count(uint64_t ordinal, uint64_t present);

  double draws() const { return draws_; }

  // Returns the share of the draws counted, and its expectation.
  // REQUIRES: Count() was called
  Share Result() const;

 private:
  // A rank that is examined on its own.
  struct Rank {
    uint64_t ordinal;
    double share;
    bool hot;
  };
  // The part of all draws, rejected ones included, that yield the set, and that
  // yield any record, from the ranks that are examined; and the number of those
  // records.
  struct Sums {
    double hot = 0, all = 0;
    uint64_t hot_ranks = 0, ranks = 0;
  };

  void ExamineRanks();
  void Add(const Rank& rank);
  double ShareNow();
  double ShareOfHottest();

  YcsbChooser chooser_;
  const uint64_t count_;     // ranks or records of the set
  const std::string which_;  // "1 %"
  uint64_t present_ = 0;     // of the last draw
  double share_ = 0;         // of the set, at that number
  std::unordered_set<uint64_t> hottest_;
  std::vector<uint64_t> sorted_hottest_;
  uint64_t items_ = 0;       // of the chooser, when ranks were examined
  uint64_t examined_ = 0;    // ranks
  std::vector<Rank> ranks_;  // of records that were absent then, by ordinal
  size_t next_rank_ = 0;     // the first whose record is still absent
  Sums sums_;                // of the ranks whose records are present
  double rest_ = 0;          // of draws, by ranks that are not examined
  double draws_ = 0, hits_ = 0, expected_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_YCSB_THEORY_H_
