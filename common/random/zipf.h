// Zipf's law: item r of n is drawn with a probability proportional to 1 / (r +
// 1)^theta.
//
// Two generators, and every result says which one it used.  ZipfRanks follows
// the law.  YcsbZipf is what YCSB draws under that name, which is a different
// distribution.  Neither needs memory that grows with n.  Both are functions of
// their random stream and of the C library's exp(), log() and pow(), which only
// determine constants.
//
// Threads: const methods may be called concurrently, each caller with a Random
// of its own.

#ifndef COMMON_RANDOM_ZIPF_H_
#define COMMON_RANDOM_ZIPF_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "common/random/fast_power.h"
#include "common/random/random.h"

namespace kvmatrix {

// The integral of t^-theta for t from 1 to `x`, which is log(x) if theta is 1.
// Accurate for exponents near 1, where the closed form cancels.
double ZipfIntegral(double x, double theta);

// The sum of 1 / r^theta over r = 1..n, to twelve digits: the first thousand
// terms one by one, the others by the Euler-Maclaurin formula.
double Zeta(uint64_t n, double theta);

// Draws ranks with the exact probabilities, by rejection-inversion (Hoermann
// and Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", ACM TOMACS 6(3), 1996): invert the integral of the
// density, round to the nearest rank, and accept it if the point lies below the
// bar of that rank.  Construction needs no sum over the items and costs about
// as much as a few draws.
class ZipfRanks {
 public:
  // Beyond n = 2^52 the ranks of the tail are rounded to even numbers.
  // REQUIRES: 0 < n <= 10^16, 0 < theta <= 100
  ZipfRanks(uint64_t n, double theta);

  uint64_t n() const { return static_cast<uint64_t>(last_); }

  // Returns a rank in [0, n()); 0 is the most frequent.
  uint64_t operator()(Random& random) const {
    while (true) {
      const double area = area_end_ - random.Unit() * area_;
      uint64_t rank;
      if (Accepts(area, Inverse(area), rank)) return rank;
    }
  }

  // Fills `ranks` with the ranks that as many calls of operator() would return,
  // and is faster, because the inversions of several draws overlap.
  void Draw(Random& random, std::span<uint64_t> ranks) const;

 private:
  // Bounds that keep FastLog2() and FastExp2() within their domains where
  // rounding reaches the very end of the items.
  static constexpr double kMin = 0x1p-1000;
  static constexpr double kMaxBits = 60;

  // The inverse of ZipfIntegral(), to nine digits.  If the exponent is so near
  // to 1 that the quotient would lose them, the first terms of a series are
  // used.
  double Inverse(double area) const {
    const double scaled = area * exponent_;
    const double log2_x =
        near_one_ ? area * (1 - scaled * (0.5 - scaled * (1.0 / 3))) *
                        (1 / internal::kLn2)
                  : FastLog2(std::max(1 + scaled, kMin)) * inverse_exponent_;
    return FastExp2(std::min(log2_x, kMaxBits));
  }

  // Sets `rank` to the rank nearest to `x`, the inverse of `area`, and returns
  // true if it is accepted.  Most are accepted by the first comparison, which
  // needs no power.
  bool Accepts(double area, double x, uint64_t& rank) const {
    const auto nearest =
        std::clamp<int64_t>(static_cast<int64_t>(x + 0.5), 1, last_);
    rank = static_cast<uint64_t>(nearest) - 1;
    const auto exact = static_cast<double>(nearest);
    return exact - x <= always_within_ || AcceptsFar(exact, area);
  }
  bool AcceptsFar(double rank, double area) const;

  const int64_t last_;  // n
  const double theta_;
  const double exponent_;          // 1 - theta
  const double inverse_exponent_;  // 1 / (1 - theta)
  const bool near_one_;
  const double area_end_;
  const double area_;
  const double always_within_;  // a rank this near to x is always accepted
};

// YCSB's hash of an integer: FNV-1a over its eight bytes, lowest first
// (Utils.fnvhash64, core/src/main/java/site/ycsb/Utils.java of
// brianfrankcooper/YCSB; its Math.abs() is the sign handling here).  The result
// is below 2^63.  For the one hash without a negative counterpart YCSB returns
// a negative number; this returns 0.
constexpr uint64_t YcsbHash(uint64_t value) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i) {
    hash = (hash ^ (value & 0xff)) * 1099511628211u;
    value >>= 8;
  }
  return (hash >> 63 ? -hash : hash) & ~(uint64_t{1} << 63);
}

// The formula of Gray et al.  ("Quickly generating billion-record synthetic
// databases", SIGMOD 1994), on which YCSB is built.  Ranks 0 and 1 have the
// probabilities of the law; the ranks that follow are drawn about a fifth too
// often.
class GrayZipf {
 public:
  // `zeta` is the sum of 1 / r^theta over r = 1..items.  A generator that has
  // grown from `first_items` keeps one factor of that number, as YCSB's does.
  // REQUIRES: items >= first_items >= 3, 0 < theta < 1
  GrayZipf(uint64_t items, double theta, double zeta, uint64_t first_items);
  GrayZipf(uint64_t items, double theta, double zeta)
      : GrayZipf(items, theta, zeta, items) {}

  // Returns the generator of ages among `present` records, 0 for the newest, as
  // SkewedLatestGenerator.java of YCSB has it: with one item less, so that the
  // oldest record is never drawn.  Nothing if there are too few records.
  static std::optional<GrayZipf> OfLatest(uint64_t present);

  uint64_t items() const { return items_; }

  // Returns a rank in [0, items()); 0 is the most frequent.
  uint64_t operator()(Random& random) const { return RankOf(random.Unit()); }

  // Returns the rank of a uniform number u in [0, 1).
  uint64_t RankOf(double u) const {
    const double uz = u * zeta_;
    const double share = FastExp2(alpha_ * FastLog2(eta_ * u - eta_ + 1));
    const auto rank = static_cast<int64_t>(static_cast<double>(items_) * share);
    return static_cast<uint64_t>(uz < 1 ? 0 : uz < second_ ? 1 : rank);
  }

  // Returns the probability of a rank below `rank`, by the formula.
  double ShareBelow(uint64_t rank) const;

 private:
  const uint64_t items_;
  const double zeta_;
  const double alpha_;
  const double second_;
  const double eta_;
};

// YCSB's "zipfian" request distribution: draws a rank of 10^10 items whatever
// the number of keys, hashes it, and reduces the hash modulo the number of
// keys.  Hence the skew hardly depends on the number of keys, some keys collect
// the draws of several ranks, and some keys have no frequent rank.
// (ScrambledZipfianGenerator.java with its constants, commit cd1589ce, and
// ZipfianGenerator.java, commit 781a8f52, of brianfrankcooper/YCSB.  As there,
// the items are one more than ITEM_COUNT.)
class YcsbZipf {
 public:
  static constexpr double kTheta = 0.99;
  static constexpr double kZeta = 26.46902820178302;
  static constexpr uint64_t kItems = 10'000'000'001;

  // Returns a rank in [0, kItems).
  uint64_t Rank(Random& random) const { return ranks_(random); }

  // Returns a key in [0, keys).  REQUIRES: keys > 0
  uint64_t operator()(Random& random, uint64_t keys) const {
    return KeyOf(ranks_(random), keys);
  }

  // Fills `drawn` with the keys that as many calls of operator() would return,
  // and is faster.
  void Draw(Random& random, uint64_t keys, std::span<uint64_t> drawn) const;

  // Returns the key of a rank.  Different ranks may have the same key.
  static constexpr uint64_t KeyOf(uint64_t rank, uint64_t keys) {
    return YcsbHash(rank) % keys;
  }

  // See GrayZipf::ShareBelow().
  double ShareBelow(uint64_t rank) const { return ranks_.ShareBelow(rank); }

 private:
  GrayZipf ranks_{kItems, kTheta, kZeta};
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_ZIPF_H_
