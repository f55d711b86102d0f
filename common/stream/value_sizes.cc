#include "common/stream/value_sizes.h"

#include <algorithm>
#include <cmath>

#include "common/random/fast_power.h"

namespace kvmatrix {
namespace {

// Returns a number strictly between 0 and 1, where all formulas are finite.
double Inside(uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// NormalQuantile() has one formula within this distance of 1/2 and another one
// beyond it.
constexpr double kCentral = 0.425;

// The quantile function of the standard normal distribution, to seven digits
// (Wichura, "Algorithm AS 241", Applied Statistics 37, 1988, PPND7).  The
// formula for the extreme tail is omitted, because sizes are bounded at three
// standard deviations.
double NormalQuantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= kCentral) {
    const double r = 0.180625 - q * q;
    return q *
           (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r +
            3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  const double r =
      std::sqrt(-internal::kLn2 * FastLog2(std::min(p, 1 - p))) - 1.6;
  const double z =
      (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r +
       1.4234372777) /
      ((0.12021132975 * r + 0.73700164250) * r + 1);
  return std::copysign(z, q);
}

}  // namespace

ValueSizes::ValueSizes(SizeLaw law, size_t min, size_t max, double k,
                       double sigma)
    : law_(law),
      min_(min),
      max_(max),
      k_(k),
      sigma_(sigma),
      flip_(law == SizeLaw::kPareto ? ~uint64_t{0} : 0) {
  if (law == SizeLaw::kNormal || law == SizeLaw::kPareto) guide_ = MakeGuide();
}

ValueSizes ValueSizes::Uniform(size_t min, size_t max) {
  return {SizeLaw::kUniform, min, max, 0, 0};
}

ValueSizes ValueSizes::Normal(size_t min, size_t max) {
  return {SizeLaw::kNormal, min, max, 0, static_cast<double>(max - min) / 6};
}

ValueSizes ValueSizes::Pareto(size_t min, size_t max, double k, double sigma) {
  return {SizeLaw::kPareto, min, max, k, sigma};
}

// Computed sizes are monotonic except for rounding.  The guide tolerates
// rounding by less than a cell, which this condition ensures: near k = 0,
// subtracting 1 from a power close to 1 loses digits.
bool ValueSizes::IsGuided() const {
  constexpr double kMin = 0.01;
  return max_ < kComputed &&
         (law_ == SizeLaw::kNormal || k_ == 0 || k_ >= kMin);
}

std::shared_ptr<const ValueSizes::Guide> ValueSizes::MakeGuide() const {
  auto guide = std::make_shared<Guide>();
  const bool guided = IsGuided();
  for (uint64_t i = 0; i < guide->size(); ++i) {
    const bool tail = i >= kSteps;
    const uint64_t first = i % kSteps << kStepShift;
    (*guide)[i] = !guided ? Step{kComputed, 0}
                  : tail  ? MakeStep(kTail | first >> kTailShift, kTailShift)
                          : MakeStep(first, 0);
  }
  if (law_ == SizeLaw::kNormal) {
    // The two formulas of NormalQuantile() meet in these steps and agree only
    // to seven digits there.
    for (const double u : {0.5 - kCentral, 0.5 + kCentral}) {
      (*guide)[static_cast<size_t>(u * kSteps)].size = kComputed;
    }
  }
  return guide;
}

// Makes the step that begins at `first` and is 2^shift times shorter than a
// full one.
ValueSizes::Step ValueSizes::MakeStep(uint64_t first, int shift) const {
  const uint64_t cell = uint64_t{1} << (kCellShift - shift);
  constexpr uint64_t kCells = uint64_t{1} << (kStepShift - kCellShift);
  const auto size_at = [this](uint64_t bits) { return Compute(Upward(bits)); };
  const uint64_t last = first + (kCells * cell - 1);
  const size_t size = size_at(first);
  const size_t last_size = size_at(last);
  // If a size boundary is within a cell of either end, rounding may move it
  // into the neighbouring step: such a step is computed.
  const bool loose =
      (first != 0 && size_at(first - cell) != size) ||
      (last != ~uint64_t{0} && size_at(last + cell) != last_size);
  if (loose || last_size > size + 1) return {kComputed, 0};
  const auto known = static_cast<uint16_t>(size);
  if (last_size == size) return {known, kComputed};
  uint64_t low = 0, high = kCells;  // bisection: the boundary is in cell `low`
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (size_at(first + middle * cell) == size ? low : high) = middle;
  }
  return {known, static_cast<uint16_t>(low)};
}

size_t ValueSizes::ComputeOf(uint64_t root) const {
  return law_ == SizeLaw::kNormal || law_ == SizeLaw::kPareto
             ? Compute(BitsOf(root))
             : Of(root);
}

size_t ValueSizes::Compute(uint64_t bits) const {
  return law_ == SizeLaw::kNormal ? NormalOf(bits) : ParetoOf(bits);
}

size_t ValueSizes::Bounded(double size) const {
  return static_cast<size_t>(
      std::clamp(size, static_cast<double>(min_), static_cast<double>(max_)));
}

size_t ValueSizes::NormalOf(uint64_t bits) const {
  const double middle =
      (static_cast<double>(min_) + static_cast<double>(max_)) / 2;
  return Bounded(middle + sigma_ * NormalQuantile(Inside(bits)) + 0.5);
}

size_t ValueSizes::ParetoOf(uint64_t bits) const {
  const double log2_u = FastLog2(Inside(bits));
  const double size =
      k_ == 0 ? -sigma_ * internal::kLn2 * log2_u
              : sigma_ * (FastExp2(std::min(-k_ * log2_u, 1000.0)) - 1) / k_;
  return Bounded(std::ceil(size));
}

double ValueSizes::ShareFrom(size_t size) const {
  if (size <= min_) return 1;
  if (size > max_) return 0;
  const auto least = static_cast<double>(size);
  if (law_ == SizeLaw::kUniform) {
    return (static_cast<double>(max_) - least + 1) /
           static_cast<double>(max_ - min_ + 1);
  }
  if (law_ == SizeLaw::kNormal) {
    const double middle =
        (static_cast<double>(min_) + static_cast<double>(max_)) / 2;
    if (sigma_ == 0) return 1;
    return std::erfc((least - 0.5 - middle) / (sigma_ * std::sqrt(2))) / 2;
  }
  return k_ == 0 ? std::exp(-(least - 1) / sigma_)
                 : std::pow(1 + k_ * (least - 1) / sigma_, -1 / k_);
}

// E[X] = min + the sum over all larger sizes s of P(X >= s), in steps of at
// most a thousandth of the distance so far.
double ValueSizes::Mean() const {
  double mean = static_cast<double>(min_);
  const size_t range = max_ - min_;
  for (size_t above = 0, width; above < range; above += width) {
    width = std::min(1 + above / 1000, range - above);
    // The middle of a step stands for all of its sizes.
    const double share = ShareFrom(min_ + above + 1 + (width - 1) / 2);
    mean += static_cast<double>(width) * share;
  }
  return mean;
}

size_t ValueSizes::Quantile(double quantile) const {
  size_t low = min_, high = max_;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (1 - ShareFrom(middle + 1) >= quantile) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace kvmatrix
