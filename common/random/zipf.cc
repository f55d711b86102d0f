#include "common/random/zipf.h"

#include <limits>

namespace kvmatrix {
namespace {

// For exponents nearer to 1 than this, Inverse() uses the series.
constexpr double kNearOne = 1e-6;

double Density(double x, double theta) { return std::pow(x, -theta); }

}  // namespace

double ZipfIntegral(double x, double theta) {
  const double log_x = std::log(x);
  const double scaled = (1 - theta) * log_x;
  if (std::abs(scaled) < 1e-8) return log_x * (1 + scaled / 2);
  return log_x * std::expm1(scaled) / scaled;
}

double Zeta(uint64_t n, double theta) {
  constexpr uint64_t kTerms = 1000;
  const uint64_t terms = std::min(n, kTerms);
  double sum = 0;
  for (uint64_t r = terms; r > 0; --r) {
    sum += std::pow(static_cast<double>(r), -theta);
  }
  if (n == terms) return sum;
  const double a = kTerms, b = static_cast<double>(n);
  const auto power = [theta](double x, int less) {
    return std::pow(x, -theta - less);
  };
  // Euler-Maclaurin: integral, half the end terms, and the corrections by the
  // first and the third derivative.  The next correction is below 10^-12.
  return sum + ZipfIntegral(b, theta) - ZipfIntegral(a, theta) +
         (power(b, 0) - power(a, 0)) / 2 +
         theta * (power(a, 1) - power(b, 1)) / 12 -
         theta * (theta + 1) * (theta + 2) * (power(a, 3) - power(b, 3)) / 720;
}

ZipfRanks::ZipfRanks(uint64_t n, double theta)
    : last_(static_cast<int64_t>(n)),
      theta_(theta),
      exponent_(1 - theta),
      inverse_exponent_(1 / (1 - theta)),
      near_one_(std::abs(1 - theta) < kNearOne),
      area_end_(ZipfIntegral(static_cast<double>(n) + 0.5, theta)),
      // The bar of rank 1 is drawn in full: its area, 1, ends at 1.5.
      area_(area_end_ - (ZipfIntegral(1.5, theta) - 1)),
      always_within_(2 -
                     Inverse(ZipfIntegral(2.5, theta) - Density(2, theta))) {}

bool ZipfRanks::AcceptsFar(double rank, double area) const {
  return area >= ZipfIntegral(rank + 0.5, theta_) - Density(rank, theta_);
}

// Each stage handles 16 draws, so that the loads and multiplications of
// independent draws overlap.  A rejected draw does not advance `drawn`, and its
// slot is overwritten by the next one.  The random numbers are consumed in the
// order of single draws, so the accepted ranks are the same.
void ZipfRanks::Draw(Random& random, std::span<uint64_t> ranks) const {
  constexpr size_t kAtOnce = 16;
  double areas[kAtOnce], places[kAtOnce];
  for (size_t drawn = 0; drawn < ranks.size();) {
    const size_t count = std::min(kAtOnce, ranks.size() - drawn);
    for (size_t i = 0; i < count; ++i) {
      areas[i] = area_end_ - random.Unit() * area_;
    }
    for (size_t i = 0; i < count; ++i) places[i] = Inverse(areas[i]);
    for (size_t i = 0; i < count; ++i) {
      drawn += Accepts(areas[i], places[i], ranks[drawn]);
    }
  }
}

void YcsbZipf::Draw(Random& random, uint64_t keys,
                    std::span<uint64_t> drawn) const {
  // The draws do not depend on each other, and the processor overlaps them.
  for (uint64_t& key : drawn) key = ranks_(random);
  // hash % keys without a division: the quotient by the rounded-down inverse is
  // exact or one too small, which the comparison below corrects.
  const uint64_t inverse = std::numeric_limits<uint64_t>::max() / keys;
  for (uint64_t& key : drawn) {
    const uint64_t hash = YcsbHash(key);
    const auto quotient = static_cast<uint64_t>(
        (static_cast<unsigned __int128>(hash) * inverse) >> 64);
    key = hash - quotient * keys;
    if (key >= keys) key -= keys;
  }
}

GrayZipf::GrayZipf(uint64_t items, double theta, double zeta,
                   uint64_t first_items)
    : items_(items),
      zeta_(zeta),
      alpha_(1 / (1 - theta)),
      second_(1 + std::pow(0.5, theta)),
      eta_((1 - std::pow(2 / static_cast<double>(first_items), 1 - theta)) /
           (1 - second_ / zeta)) {}

std::optional<GrayZipf> GrayZipf::OfLatest(uint64_t present) {
  if (present < 4) return std::nullopt;
  constexpr double kTheta = YcsbZipf::kTheta;
  return GrayZipf(present - 1, kTheta, Zeta(present - 1, kTheta));
}

double GrayZipf::ShareBelow(uint64_t rank) const {
  if (rank == 0) return 0;
  if (rank == 1) return 1 / zeta_;
  if (rank == 2) return second_ / zeta_;
  if (rank >= items_) return 1;
  const double part = static_cast<double>(rank) / static_cast<double>(items_);
  return std::max(second_ / zeta_,
                  (std::pow(part, 1 / alpha_) - 1 + eta_) / eta_);
}

}  // namespace kvmatrix
