#include "common/random/share_theory.h"

#include <algorithm>

#include "common/random/zipf.h"

namespace kvmatrix {

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
