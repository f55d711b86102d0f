#include "common/random/share_theory.h"

#include <algorithm>
#include <cmath>

#include "common/random/zipf.h"

namespace kvmatrix {

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

double ZipfShare(uint64_t count, uint64_t n, double theta) {
  return Zeta(count, theta) / Zeta(n, theta);
}

double YcsbZipfShare(std::span<const uint64_t> hot, uint64_t keys) {
  constexpr uint64_t kFrequentRanks = 1 << 18;
  const YcsbZipf zipf;
  double share = 0;
  double below = 0;
  for (uint64_t rank = 0; rank < kFrequentRanks; ++rank) {
    const double up_to = zipf.ShareBelow(rank + 1);
    if (std::ranges::binary_search(hot, YcsbZipf::KeyOf(rank, keys))) {
      share += up_to - below;
    }
    below = up_to;
  }
  return share + (1 - below) * static_cast<double>(hot.size()) /
                     static_cast<double>(keys);
}

}  // namespace kvmatrix
