// Zipf's law: item r of n is drawn in proportion to 1 / (r + 1)^theta.
//
// Two generators, labelled wherever they are used: ZipfRanks is the law, and
// YcsbZipf is what YCSB draws under that name, which is another distribution.
// Neither holds memory that grows with n; both are functions of their random
// stream and of the C library's exp(), log() and pow().

#ifndef COMMON_ZIPF_H_
#define COMMON_ZIPF_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/random.h"

namespace kvmatrix {

// The integral of x^-theta from 1 to `x`: log(x) where theta is 1.
double ZipfIntegral(double x, double theta);

// Ranks of n items, the law itself: rejection-inversion (Hoermann and
// Derflinger, "Rejection-inversion to generate variates from monotone discrete
// distributions", ACM TOMACS 6(3), 1996).  Needs no sum over the items, so that
// one for another n is as cheap as a few draws.
class ZipfRanks {
 public:
  // REQUIRES: 0 < n <= 10^16, 0 < theta <= 100.  Beyond n = 2^52 the ranks of
  // the tail are rounded to even numbers.
  ZipfRanks(uint64_t n, double theta);

  uint64_t n() const { return static_cast<uint64_t>(last_); }

  // In [0, n()); 0 is the most frequent.
  uint64_t operator()(Random& random) const {
    while (true) {
      const double area = area_end_ - random.Unit() * area_;
      const double x = Inverse(area);
      const auto rank =
          std::clamp<int64_t>(static_cast<int64_t>(x + 0.5), 1, last_);
      const auto exact = static_cast<double>(rank);
      if (exact - x <= always_within_ || Accepts(exact, area)) {
        return static_cast<uint64_t>(rank) - 1;
      }
    }
  }

 private:
  // The inverse of ZipfIntegral(): exp() and log() but where the exponent is so
  // near to 1 that they would lose digits.
  double Inverse(double area) const {
    const double scaled = area * exponent_;
    const double log_x = near_one_
                             ? area * (1 - scaled * (0.5 - scaled * (1.0 / 3)))
                             : std::log(1 + scaled) * inverse_exponent_;
    return std::exp(log_x);
  }

  bool Accepts(double rank, double area) const;

  const int64_t last_;  // n
  const double theta_;
  const double exponent_;          // 1 - theta
  const double inverse_exponent_;  // 1 / (1 - theta)
  const bool near_one_;
  const double area_end_;
  const double area_;
  const double always_within_;  // so near to x, a rank needs no further look
};

// YCSB's hash of an integer: FNV-1a over its eight bytes, the lowest first.
// (Utils.fnvhash64, core/src/main/java/site/ycsb/Utils.java of
// brianfrankcooper/YCSB; its Math.abs() is this minus sign.)  Below 2^63, but
// for the one hash whose negative does not exist: that is 0 here, negative
// there.
constexpr uint64_t YcsbHash(uint64_t value) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i) {
    hash = (hash ^ (value & 0xff)) * 1099511628211u;
    value >>= 8;
  }
  return (hash >> 63 ? -hash : hash) & ~(uint64_t{1} << 63);
}

// The formula of Gray et al. ("Quickly generating billion-record synthetic
// databases", SIGMOD 1994): the law for ranks 0 and 1, and about a fifth too
// much of the ranks that follow.
class GrayZipf {
 public:
  // `zeta` is the sum of 1 / r^theta over r = 1..items.
  // REQUIRES: items >= 3, 0 < theta < 1
  GrayZipf(uint64_t items, double theta, double zeta);

  uint64_t items() const { return items_; }

  // In [0, items()); 0 is the most frequent.
  uint64_t operator()(Random& random) const {
    const double u = random.Unit();
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < second_) return 1;
    const double share = std::pow(eta_ * u - eta_ + 1, alpha_);
    return static_cast<uint64_t>(static_cast<double>(items_) * share);
  }

  // The share of draws that are below `rank`, by the formula.
  double ShareBelow(uint64_t rank) const;

 private:
  const uint64_t items_;
  const double zeta_;
  const double alpha_;
  const double second_;
  const double eta_;
};

// YCSB's "zipfian" request distribution: ranks of 10^10 items whatever the
// number of keys, hashed and reduced modulo the number of keys.  How skewed it
// is hardly depends on that number, some keys share the draws of several ranks,
// and some keys have no rank of their own.  (ScrambledZipfianGenerator.java
// with its constants, commit cd1589ce, and ZipfianGenerator.java, commit
// 781a8f52, of brianfrankcooper/YCSB; the items are one more than ITEM_COUNT,
// as there.)
class YcsbZipf {
 public:
  static constexpr double kTheta = 0.99;
  static constexpr double kZeta = 26.46902820178302;
  static constexpr uint64_t kItems = 10'000'000'001;

  uint64_t Rank(Random& random) const { return ranks_(random); }

  // A key in [0, keys).  REQUIRES: keys > 0
  uint64_t operator()(Random& random, uint64_t keys) const {
    return KeyOf(ranks_(random), keys);
  }

  static constexpr uint64_t KeyOf(uint64_t rank, uint64_t keys) {
    return YcsbHash(rank) % keys;
  }

  double ShareBelow(uint64_t rank) const { return ranks_.ShareBelow(rank); }

 private:
  GrayZipf ranks_{kItems, kTheta, kZeta};
};

}  // namespace kvmatrix

#endif  // COMMON_ZIPF_H_
