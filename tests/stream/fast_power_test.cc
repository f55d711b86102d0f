#include "common/random/fast_power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/random/random.h"

namespace kvmatrix {
namespace {

TEST(FastLog2, IsNearlyTheLogarithm) {
  Random random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const double x = std::exp2(2000 * random.Unit() - 1000);
    ASSERT_NEAR(FastLog2(x), std::log2(x), 5e-13) << x;
    const double y = 1 + random.Unit();
    ASSERT_NEAR(FastLog2(y), std::log2(y), 1e-13) << y;
  }
  EXPECT_EQ(FastLog2(1), 0);
  EXPECT_EQ(FastLog2(2), 1);
  EXPECT_EQ(FastLog2(0x1p-1000), -1000);
}

TEST(FastLog2, KeepsItsDigitsNearOne) {
  for (double far = 1e-12; far < 0.1; far *= 1.7) {
    for (const double x : {1 + far, 1 - far}) {
      EXPECT_NEAR(FastLog2(x) / std::log2(x), 1, 1e-10) << x;
    }
  }
}

TEST(FastExp2, IsNearlyThePower) {
  Random random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const double x = 2000 * random.Unit() - 1000;
    ASSERT_NEAR(FastExp2(x) / std::exp2(x), 1, 1e-12) << x;
  }
  EXPECT_EQ(FastExp2(0), 1);
  EXPECT_EQ(FastExp2(-3), 0.125);
  EXPECT_EQ(FastExp2(1000), 0x1p1000);
}

}  // namespace
}  // namespace kvmatrix
