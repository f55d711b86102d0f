// How many bytes each value has: one fixed size, or a size drawn from a
// distribution.  A drawn size is a function of the value's root, the number
// from which all bytes of the value are derived, so the oracle need not store
// it.

#ifndef COMMON_STREAM_VALUE_SIZES_H_
#define COMMON_STREAM_VALUE_SIZES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/random/random.h"
#include "common/spec/size_law.h"

namespace kvmatrix {

// Immutable; cheap to copy, since copies share their table.  Thread-safe.
// Sizes that a distribution puts outside [min, max] become the nearer bound.
//
//   const ValueSizes sizes = ValueSizes::Pareto(1, 3200, 0.2615, 25.45);
//   sizes.Of(values.Root(key, version));   // 1 to 3200 bytes
//
// Of() is called for each value in timed loops: constant time, no allocation.
// The factories of the normal and the Pareto distribution build a table of 32
// KiB, which evaluates the formula tens of thousands of times.
class ValueSizes {
 public:
  // The largest size, in bytes.
  static constexpr size_t kLargest = kLargestValue;

  // All values have `size` bytes.
  // NOLINTNEXTLINE(google-explicit-constructor): the usual case
  ValueSizes(size_t size) : ValueSizes(SizeLaw::kFixed, size, size, 0, 0) {}

  // Every size from min to max is equally likely.
  // REQUIRES, here and below: min <= max <= kLargest.
  static ValueSizes Uniform(size_t min, size_t max);

  // The distribution of db_bench: the mean is in the middle and each bound is
  // three standard deviations away; rounded to the nearest byte.
  static ValueSizes Normal(size_t min, size_t max);

  // The generalised Pareto distribution with location 0, shape k and scale
  // sigma, rounded up, as mixgraph uses it.  If k < 1 its mean, before bounds
  // are applied, is sigma / (1 - k); otherwise it has none.
  // REQUIRES: k >= 0, sigma > 0
  static ValueSizes Pareto(size_t min, size_t max, double k, double sigma);

  SizeLaw law() const { return law_; }
  bool fixed() const { return law_ == SizeLaw::kFixed; }
  // Bounds in bytes, both included; equal if sizes do not vary.
  size_t min() const { return min_; }
  size_t max() const { return max_; }

  // Returns the size of the value with this root, in bytes; see Values.  Equal
  // roots have equal sizes.
  size_t Of(uint64_t root) const {
    if (law_ == SizeLaw::kFixed) return max_;
    const uint64_t bits = BitsOf(root);
    if (law_ == SizeLaw::kUniform) {
      return min_ + static_cast<size_t>((static_cast<unsigned __int128>(bits) *
                                         (max_ - min_ + 1)) >>
                                        64);
    }
    return Guided(bits);
  }

  // Returns the same size from the formula, without the table.  Slow; for
  // tests, which compare the two.
  size_t ComputeOf(uint64_t root) const;

  // Returns the expected share of values of at least `size` bytes: 1 up to
  // min(), 0 above max().
  double ShareFrom(size_t size) const;

  // Returns the expected mean, and the smallest size that at least a share of
  // `quantile` of the values do not exceed.  For reports, not for timed loops.
  // REQUIRES: 0 <= quantile <= 1
  double Mean() const;
  size_t Quantile(double quantile) const;

 private:
  // The guide: a table that replaces the formula for almost every draw.
  //
  // A size is a monotonic function of 64 random bits.  The range of these bits
  // is divided into 4,096 equal steps, and its last sixteenth, where the sizes
  // of a Pareto distribution grow fastest, once more into 4,096.  Within most
  // steps at most two neighbouring sizes occur: `size` up to a boundary and
  // size + 1 beyond it.  The boundary is known to one of 65,536 cells of the
  // step.  Bits in that cell or next to it, and steps with more than two sizes
  // (kComputed), use the formula.
  struct Step {
    uint16_t size;
    uint16_t bound;
  };
  static constexpr int kStepShift = 64 - 12;
  static constexpr int kCellShift = kStepShift - 16;
  static constexpr int kTailShift = 4;
  static constexpr uint64_t kTail = ~uint64_t{0} << (64 - kTailShift);
  static constexpr uint16_t kComputed = 0xffff;  // the size is not known
  static constexpr size_t kSteps = size_t{1} << 12;
  using Guide = std::array<Step, 2 * kSteps>;

  ValueSizes(SizeLaw law, size_t min, size_t max, double k, double sigma);

  // The bytes of the value follow from the same root; a hash with a constant of
  // its own keeps sizes independent of them.
  static uint64_t BitsOf(uint64_t root) {
    return Mix64(root ^ 0x76616c7565207369u);
  }

  // Looks the size of these bits up in the guide.
  size_t Guided(uint64_t bits) const {
    const uint64_t upward = Upward(bits);
    const bool tail = upward >= kTail;
    const uint64_t position = upward << (tail ? kTailShift : 0);
    const Step step = (*guide_)[(position >> kStepShift) + (tail ? kSteps : 0)];
    const auto cell = static_cast<uint16_t>(position >> kCellShift);
    const auto from_bound = static_cast<uint16_t>(cell - step.bound + 1);
    if (step.size == kComputed || from_bound <= 2) [[unlikely]] {
      return Compute(bits);
    }
    return step.size + static_cast<size_t>(cell > step.bound);
  }

  // Maps random bits to bits along which sizes grow; its own inverse.
  uint64_t Upward(uint64_t bits) const { return bits ^ flip_; }

  // True if a guide is possible; without it every step is kComputed.
  bool IsGuided() const;
  std::shared_ptr<const Guide> MakeGuide() const;
  Step MakeStep(uint64_t first, int shift) const;
  size_t Compute(uint64_t bits) const;
  size_t NormalOf(uint64_t bits) const;
  size_t ParetoOf(uint64_t bits) const;
  size_t Bounded(double size) const;

  SizeLaw law_;
  size_t min_;
  size_t max_;
  double k_;       // of kPareto
  double sigma_;   // scale of kPareto, standard deviation of kNormal
  uint64_t flip_;  // see Upward()
  std::shared_ptr<const Guide> guide_;  // of kNormal and kPareto
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_VALUE_SIZES_H_
