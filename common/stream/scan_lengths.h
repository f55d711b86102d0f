// How many entries the scans of mix visit.

#ifndef COMMON_STREAM_SCAN_LENGTHS_H_
#define COMMON_STREAM_SCAN_LENGTHS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/random/random.h"
#include "common/random/share_theory.h"
#include "common/random/zipf.h"
#include "common/spec/config.h"

namespace kvmatrix {

// --scan_length entries each or, with --max_scan_length, a number that is drawn
// from a range, both ends included: each alike, or by YCSB's ZipfianGenerator,
// which makes the smallest the most frequent.  Not thread-safe.
class ScanLengths {
 public:
  ScanLengths(const Config& config, uint64_t stream_seed)
      : fixed_(config.mix.scan_length),
        least_(config.mix.min_scan_length),
        most_(config.mix.max_scan_length),
        random_(stream_seed) {
    if (!drawn() || config.mix.scan_length_distribution != "zipf") return;
    constexpr double kTheta = YcsbZipf::kTheta;
    const uint64_t items = most_ - least_ + 1;
    if (items < 3) few_.emplace(items, kTheta);  // where both laws are the same
    if (items >= 3) zipf_.emplace(items, kTheta, Zeta(items, kTheta));
  }

  // True unless all lengths are the same by design.
  bool drawn() const { return most_ > 0; }

  uint64_t Next() {
    if (!drawn()) return fixed_;
    if (zipf_) return least_ + (*zipf_)(random_);
    if (few_) return least_ + (*few_)(random_);
    return least_ + random_.Uniform(most_ - least_ + 1);
  }

  // Returns the expected mean, with as many steps as there are lengths.
  // REQUIRES: drawn()
  double Mean() const {
    const uint64_t items = most_ - least_ + 1;
    const auto least = static_cast<double>(least_);
    if (few_) return least + 1 - ZipfShare(1, items, YcsbZipf::kTheta);
    if (!zipf_) return least + static_cast<double>(items - 1) / 2;
    double mean = least;
    for (uint64_t i = 1; i < items; ++i) mean += 1 - zipf_->ShareBelow(i);
    return mean;
  }

  // Returns what a result says of the lengths; empty if they are not drawn.
  std::string Label() const {
    if (!drawn()) return "";
    return "; scans of " + std::to_string(least_) + " to " +
           std::to_string(most_) + " entries" +
           (zipf_ || few_ ? ", by YCSB's Zipf" : "");
  }

 private:
  const uint64_t fixed_, least_, most_;  // entries
  Random random_;
  std::optional<GrayZipf> zipf_;
  std::optional<ZipfRanks> few_;
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_SCAN_LENGTHS_H_
