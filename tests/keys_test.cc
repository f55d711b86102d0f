#include "common/keys.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "common/random.h"

namespace kvmatrix {
namespace {

std::string Printed(uint64_t index) {
  char text[32];
  std::snprintf(text, sizeof(text), "%016llu",
                static_cast<unsigned long long>(index));
  return text;
}

TEST(Keys, AreSixteenDigitsAsInDbBench) {
  KeyBuffer key(16);
  EXPECT_EQ(key.Set(0), "0000000000000000");
  EXPECT_EQ(key.Set(1234567), "0000000001234567");
  EXPECT_EQ(key.Set(kMaxKeys - 1), "9999999999999999");
}

TEST(Keys, EqualPrintfForAnyIndex) {
  KeyBuffer key(16);
  Random random(7);
  for (int digits = 1; digits <= 16; ++digits) {
    uint64_t limit = 1;
    for (int i = 0; i < digits; ++i) limit *= 10;
    for (int i = 0; i < 2000; ++i) {
      const uint64_t index = random.Uniform(limit);
      ASSERT_EQ(key.Set(index), Printed(index));
      ASSERT_EQ(ParseKey(key.Set(index), 16), index);
    }
  }
}

TEST(Keys, AreLongerWithZerosInFront) {
  KeyBuffer key(20);
  EXPECT_EQ(key.Set(42), "00000000000000000042");
  EXPECT_EQ(ParseKey("00000000000000000042", 20), 42u);
}

TEST(Keys, ParseRefusesWhatIsNoKey) {
  EXPECT_EQ(ParseKey("", 16), std::nullopt);
  EXPECT_EQ(ParseKey("000000000000001", 16), std::nullopt);
  EXPECT_EQ(ParseKey("00000000000000001", 16), std::nullopt);
  EXPECT_EQ(ParseKey("10000000000000000042", 20), std::nullopt);
  for (size_t i = 0; i < 16; ++i) {
    for (const char wrong : {'/', ':', 'a', '\0', '\xb0'}) {
      std::string key = "0123456789012345";
      key[i] = wrong;
      EXPECT_EQ(ParseKey(key, 16), std::nullopt) << i << " " << wrong;
    }
  }
}

}  // namespace
}  // namespace kvmatrix
