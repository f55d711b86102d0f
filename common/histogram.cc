#include "common/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kvmatrix {
namespace {

constexpr double kNsPerMicro = 1e3;

template <typename... Args>
void Append(std::string& text, const char* format, Args... args) {
  char line[200];
  std::snprintf(line, sizeof(line), format, args...);
  text += line;
}

}  // namespace

uint64_t Histogram::Lower(size_t index) {
  if (index < 2 * kSub) return index;
  const int shift = static_cast<int>(index >> kSubBits) - 1;
  return (kSub + (index & (kSub - 1))) << shift;
}

uint64_t Histogram::Percentile(double percent) const {
  const auto rank = static_cast<uint64_t>(
      std::ceil(static_cast<double>(count_) * percent / 100));
  uint64_t seen = 0;
  for (const Bucket& bucket : Buckets()) {
    seen += bucket.count;
    if (seen >= rank) return std::min(bucket.upper, max_);
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::Buckets() const {
  std::vector<Bucket> buckets;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] == 0) continue;
    const uint64_t upper = i + 1 < kBuckets
                               ? Lower(i + 1) - 1
                               : std::numeric_limits<uint64_t>::max();
    buckets.push_back({Lower(i), upper, counts_[i]});
  }
  return buckets;
}

std::string Histogram::ToString() const {
  if (count_ == 0) return "Count: 0\n";
  std::string text;
  Append(text, "Count: %llu  Average: %.4f\n",
         static_cast<unsigned long long>(count_),
         static_cast<double>(sum_) / static_cast<double>(count_) / kNsPerMicro);
  Append(text, "Min: %.4f  Median: %.4f  Max: %.4f\n",
         static_cast<double>(min()) / kNsPerMicro,
         static_cast<double>(Percentile(50)) / kNsPerMicro,
         static_cast<double>(max_) / kNsPerMicro);
  text += "Percentiles:";
  for (const double percent : {50.0, 90.0, 99.0, 99.9, 99.99}) {
    Append(text, " P%g: %.2f", percent,
           static_cast<double>(Percentile(percent)) / kNsPerMicro);
  }
  return text + "\n";
}

}  // namespace kvmatrix
