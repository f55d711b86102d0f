// Fast logarithm and power to base 2, for generators that draw millions of
// numbers a second.
//
// Both functions look a first value up in a table (1.5 KiB together, computed
// at compile time) and correct it with a short polynomial.  They are not
// correctly rounded.  They use only additions and multiplications, so every
// machine with IEEE 754 doubles computes the same bits; the C library's log2()
// and exp2() may differ between versions, and a generated stream must not.
//
// Pure functions; thread-safe.

#ifndef COMMON_RANDOM_FAST_POWER_H_
#define COMMON_RANDOM_FAST_POWER_H_

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace kvmatrix {
namespace internal {

// Number of table cells per factor of two.  A larger table needs a shorter
// polynomial but more of the first-level cache.
inline constexpr int kCells = 64;
inline constexpr double kLn2 = 0.69314718055994530942;

// log2(x) for x in [1, 2], by the series of the inverse hyperbolic tangent:
// log(x) = 2 artanh((x - 1) / (x + 1)).  Since s is at most 1/3, the first term
// left out is below 10^-31.  For the tables only.
constexpr double SlowLog2(double x) {
  const double s = (x - 1) / (x + 1);
  double sum = 0;
  for (int power = 61; power > 0; power -= 2) sum = sum * s * s + 1.0 / power;
  return 2 * s * sum / kLn2;
}

// 2^x for x in [0, 1], by the Taylor series of the exponential function up to
// the 30th power, beyond which the terms are below 10^-38.  For the tables
// only.
constexpr double SlowExp2(double x) {
  double sum = 1;
  for (int i = 30; i > 0; --i) sum = 1 + sum * x * kLn2 / i;
  return sum;
}

// Cell i of `logs` belongs to the mantissas around c = 1 + i / kCells.  The
// last cell, for c = 2, is reached by rounding up.
struct PowerTables {
  std::array<std::pair<double, double>, kCells + 1> logs{};  // 1 / c, log2(c)
  std::array<double, kCells> powers{};                       // 2^(i / kCells)
};

// Evaluated by the compiler only.
constexpr PowerTables MakePowerTables() {
  PowerTables tables;
  for (int i = 0; i <= kCells; ++i) {
    const double center = 1 + static_cast<double>(i) / kCells;
    tables.logs[i] = {1 / center, i == kCells ? 1 : SlowLog2(center)};
  }
  for (int i = 0; i < kCells; ++i) {
    tables.powers[i] = SlowExp2(static_cast<double>(i) / kCells);
  }
  return tables;
}

inline constexpr PowerTables kPowerTables = MakePowerTables();

}  // namespace internal

// Returns log2(x) with an absolute error below 10^-13; near x = 1, where the
// logarithm vanishes, the relative error is below 10^-10.
//
// Method: x = 2^e m with m in [1, 2).  The nearest table entry c gives log2(x)
// = e + log2(c) + log2(m / c), and m / c = 1 + r with |r| <= 2^-7, for which
// five terms of the series of log(1 + r) are enough.
//
// REQUIRES: x is finite, normal and positive
inline double FastLog2(double x) {
  constexpr uint64_t kOne = uint64_t{1023} << 52;
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  // Exponent and mantissa, the latter also as a number m in [1, 2).
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto exponent = static_cast<int64_t>(bits >> 52) - 1023;
  const auto m = std::bit_cast<double>((bits & kMantissa) | kOne);
  // The top six bits of the mantissa, rounded to the nearest cell.
  const uint64_t cell = ((bits & kMantissa) + (uint64_t{1} << 45)) >> 46;
  const auto& [inverse, log] = internal::kPowerTables.logs[cell];
  const double r = m * inverse - 1;
  const double r2 = r * r;
  const double series = (1 - r * 0.5) + r2 * ((1.0 / 3 - r * 0.25) + r2 * 0.2);
  return static_cast<double>(exponent) + log +
         r * series * (1 / internal::kLn2);
}

// Returns 2^x with a relative error below 10^-12.
//
// Method: adding 1.5 * 2^52 / kCells rounds x to a multiple of 1 / kCells and
// leaves that multiple, as an integer, in the low bits of the sum.  The
// integer's remainder selects the table entry, its quotient is added to the
// exponent bits of the result, and four terms of the exponential series cover
// the rest t, which is below 1 / (2 kCells) * ln 2.
//
// REQUIRES: -1022 < x < 1023
inline double FastExp2(double x) {
  constexpr double kShift = 0x1.8p52 / internal::kCells;
  const double shifted = x + kShift;
  const auto steps = std::bit_cast<uint64_t>(shifted);
  const double t = (x - (shifted - kShift)) * internal::kLn2;
  const double t2 = t * t;
  const double series =
      (1 + t) + t2 * ((0.5 + t * (1.0 / 6)) + t2 * (1.0 / 24));
  const double power =
      internal::kPowerTables.powers[steps % internal::kCells] * series;
  const uint64_t exponent = steps / internal::kCells << 52;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(power) + exponent);
}

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_FAST_POWER_H_
