// Two more of YCSB's request distributions: hotspot and exponential.
//
// Both are a few numbers, computed once; a draw takes constant time.  Threads:
// const methods may be called concurrently, each caller with a Random of its
// own.

#ifndef COMMON_RANDOM_SKEWED_DRAWS_H_
#define COMMON_RANDOM_SKEWED_DRAWS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/random/fast_power.h"
#include "common/random/random.h"

namespace kvmatrix {

// hotspotdatafraction and hotspotopnfraction of YCSB, with its defaults.
struct HotspotFractions {
  double data = 0.2;        // of the items: those that are hot
  double operations = 0.8;  // of the draws: those that fall on them
};

// exponential.percentile and exponential.frac of YCSB, with its defaults: how
// many percent of the draws fall on which fraction of the items, the newest.
struct ExponentialAges {
  double percentile = 95;
  double fraction = 0.8571428571;
};

// The first items, a fraction of all, have a fraction of the draws; within
// either part all items are alike (HotspotIntegerGenerator.java, commit
// eb0ef178, of brianfrankcooper/YCSB).  At least one item is hot, and if all
// are, every draw is of them, where YCSB divides by zero.
class Hotspot {
 public:
  // REQUIRES: items > 0; fractions are in [0, 1]
  Hotspot(uint64_t items, const HotspotFractions& fractions)
      : items_(items),
        hot_(std::clamp<uint64_t>(
            static_cast<uint64_t>(static_cast<double>(items) * fractions.data),
            1, items)),
        share_(hot_ == items ? 1 : fractions.operations) {}

  // Returns an item in [0, items).
  uint64_t operator()(Random& random) const {
    if (random.Unit() < share_) return random.Uniform(hot_);
    return hot_ + random.Uniform(items_ - hot_);
  }

  uint64_t hot() const { return hot_; }    // items below it are hot
  double share() const { return share_; }  // of draws, of hot items

 private:
  uint64_t items_;
  uint64_t hot_;
  double share_;
};

// The age of an item, 0 for the newest, is exponentially distributed
// (ExponentialGenerator.java, commit cd1589ce, of brianfrankcooper/YCSB).  YCSB
// repeats draws of items older than the first; here the distribution is cut off
// there, which gives the same shares with one draw.
class Exponential {
 public:
  // The rate follows from `items`, the number at the start.
  // REQUIRES: items > 0; 0 < ages.percentile < 100; ages.fraction > 0
  Exponential(uint64_t items, const ExponentialAges& ages)
      : bits_per_item_(-std::log2(1 - ages.percentile / 100) /
                       (static_cast<double>(items) * ages.fraction)) {}

  // Returns the probability of the newest `count` items if none were cut off.
  double ShareOfNewest(uint64_t count) const {
    return 1 - FastExp2(-std::min(bits_per_item_ * static_cast<double>(count),
                                  kManyBits));
  }

  // Returns the age of one of `present` items: below `present`.
  // REQUIRES: present > 0
  uint64_t Age(Random& random, uint64_t present) const {
    const double share = random.Unit() * ShareOfNewest(present);
    const double age = -FastLog2(1 - share) / bits_per_item_;
    return std::min(static_cast<uint64_t>(age), present - 1);
  }

 private:
  static constexpr double kManyBits = 1000;  // a share beyond is 1

  double bits_per_item_;
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_SKEWED_DRAWS_H_
