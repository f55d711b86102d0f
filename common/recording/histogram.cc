#include "common/recording/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kvmatrix {
namespace {

constexpr Percentile kWhole = 10'000;
constexpr uint64_t kMinSamplesAbove = 10;  // samples that a percentile rests on

uint64_t Scaled(uint64_t ticks, double ns_per_tick) {
  if (ns_per_tick == 1) return ticks;
  return static_cast<uint64_t>(
      std::llround(static_cast<double>(ticks) * ns_per_tick));
}

// A printed bucket, of [start, end) nanoseconds: one of db_bench's steps, of
// which each decade has sixteen.
struct Printed {
  uint64_t start_ns;
  uint64_t end_ns;
};

Printed PrintedOf(uint64_t ns) {
  constexpr uint64_t kSteps[] = {10, 12, 14, 16, 18, 20, 25, 30, 35,
                                 40, 45, 50, 60, 70, 80, 90, 100};
  constexpr uint64_t kLongest = 1'000'000'000'000'000'000;
  uint64_t decade = 1;
  while (ns >= 100 * decade && decade < kLongest / 100) decade *= 10;
  const auto end = std::ranges::upper_bound(kSteps, ns / decade);
  if (end == std::begin(kSteps)) return {0, decade * kSteps[0]};
  if (end == std::end(kSteps)) return {100 * decade, kLongest};
  return {decade * end[-1], decade * *end};
}

std::string Micros(double ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.3f", ns / 1e3);
  return text;
}

}  // namespace

Histogram::Histogram(const TickHistogram& ticks, double ns_per_tick)
    : count_(ticks.count()),
      sum_ns_(Scaled(ticks.sum(), ns_per_tick)),
      min_ns_(Scaled(ticks.min(), ns_per_tick)),
      max_ns_(Scaled(ticks.max(), ns_per_tick)) {
  for (size_t i = 0; i < ticks.counts().size(); ++i) {
    const uint64_t count = ticks.counts()[i];
    if (count == 0) continue;
    const uint64_t lower = TickHistogram::Buckets::Lower(i);
    const uint64_t middle =
        lower + (TickHistogram::Buckets::Upper(i) - lower) / 2;
    const size_t index =
        Grid::Index(std::clamp(Scaled(middle, ns_per_tick), min_ns_, max_ns_));
    const uint64_t lower_ns = Grid::Lower(index);
    // Buckets of ticks ascend, so those that fall into one bucket here are
    // neighbours.
    if (buckets_.empty() || buckets_.back().lower_ns != lower_ns) {
      buckets_.push_back({lower_ns, Grid::Upper(index), 0});
    }
    buckets_.back().count += count;
  }
}

Histogram& Histogram::operator+=(const Histogram& more) {
  if (more.count_ == 0) return *this;
  min_ns_ = count_ == 0 ? more.min_ns_ : std::min(min_ns_, more.min_ns_);
  max_ns_ = std::max(max_ns_, more.max_ns_);
  count_ += more.count_;
  sum_ns_ += more.sum_ns_;
  for (const Bucket& bucket : more.buckets_) {
    const auto at = std::ranges::lower_bound(buckets_, bucket.lower_ns, {},
                                             &Bucket::lower_ns);
    if (at != buckets_.end() && at->lower_ns == bucket.lower_ns) {
      at->count += bucket.count;
    } else {
      buckets_.insert(at, bucket);
    }
  }
  return *this;
}

std::optional<uint64_t> Histogram::At(Percentile percentile) const {
  // count (1 - percentile) < 10, in integers.
  if (count_ * (kWhole - percentile) < kMinSamplesAbove * kWhole) return {};
  const uint64_t rank = (count_ * percentile + kWhole - 1) / kWhole;
  uint64_t cumulative = 0;
  for (const Bucket& bucket : buckets_) {
    cumulative += bucket.count;
    if (cumulative >= rank) return std::min(bucket.upper_ns, max_ns_);
  }
  return max_ns_;
}

std::string Histogram::ToString() const {
  if (count_ == 0) return "Count: 0\n";
  const auto mean_ns =
      static_cast<double>(sum_ns_) / static_cast<double>(count_);
  std::string text =
      "Count: " + std::to_string(count_) + "  Average: " + Micros(mean_ns) +
      "  Min: " + Micros(static_cast<double>(min_ns_)) +
      "  Max: " + Micros(static_cast<double>(max_ns_)) + "\nPercentiles:";
  for (const Percentile percentile : kPercentiles) {
    char name[20];
    std::snprintf(name, sizeof(name), "%g",
                  static_cast<double>(percentile) / 100);
    const std::optional<uint64_t> ns = At(percentile);
    text += "  P" + std::string(name) + ": " +
            (ns ? Micros(static_cast<double>(*ns)) : "-");
  }
  return text + "\n";
}

std::string Histogram::BucketsText() const {
  constexpr size_t kWidest = 20;  // marks of all samples
  std::string text;
  uint64_t upto = 0;
  for (size_t i = 0; i < buckets_.size();) {
    const Printed printed = PrintedOf(buckets_[i].lower_ns);
    uint64_t count = 0;
    for (; i < buckets_.size() && buckets_[i].lower_ns < printed.end_ns; ++i) {
      count += buckets_[i].count;
    }
    upto += count;
    const auto share_of = [this](uint64_t samples) {
      return static_cast<double>(samples) / static_cast<double>(count_);
    };
    char line[120];
    std::snprintf(line, sizeof(line), "[ %12s, %12s ) %10llu %7.3f%% %7.3f%% ",
                  Micros(static_cast<double>(printed.start_ns)).c_str(),
                  Micros(static_cast<double>(printed.end_ns)).c_str(),
                  static_cast<unsigned long long>(count), 100 * share_of(count),
                  100 * share_of(upto));
    text += line;
    text.append(std::lround(kWidest * share_of(count)), '#');
    text += "\n";
  }
  return text;
}

}  // namespace kvmatrix
