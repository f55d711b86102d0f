#include "common/stream/keys.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "common/random/random.h"

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

TEST(Keys, ArePaddedWithLeadingZeros) {
  KeyBuffer key(20);
  EXPECT_EQ(key.Set(42), "00000000000000000042");
  EXPECT_EQ(ParseKey("00000000000000000042", 20), 42u);
}

TEST(Keys, ParseRefusesWhatIsNotAKey) {
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

std::string Bytes(std::initializer_list<int> bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(Keys, AreIntegersInEitherByteOrder) {
  EXPECT_EQ(KeyBuffer({8, KeyFormat::kBig}).Set(0x0102030405),
            Bytes({0, 0, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(KeyBuffer({8, KeyFormat::kLittle}).Set(0x0102030405),
            Bytes({5, 4, 3, 2, 1, 0, 0, 0}));
  EXPECT_EQ(KeyBuffer({10, KeyFormat::kBig}).Set(258),
            Bytes({0, 0, 0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(KeyBuffer({10, KeyFormat::kLittle}).Set(258),
            Bytes({2, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(KeyBuffer(8).Set(42), "00000042");
}

class KeysOfShape
    : public testing::TestWithParam<std::tuple<size_t, KeyFormat>> {
 protected:
  KeyShape shape() const {
    return {std::get<0>(GetParam()), std::get<1>(GetParam())};
  }
};

TEST_P(KeysOfShape, AreReadBack) {
  KeyBuffer key(shape());
  Random random(7);
  const uint64_t capacity = shape().capacity();
  for (int i = 0; i < 5000; ++i) {
    const uint64_t index =
        i < 2 ? i * (capacity - 1) : random.Uniform(capacity) >> (i % 48);
    const std::string_view text = key.Set(index);
    ASSERT_EQ(text.size(), shape().size());
    ASSERT_EQ(ParseKey(text, shape()), index);
  }
}

TEST_P(KeysOfShape, AreAbsentOneByteShorterOrLonger) {
  const std::string text(KeyBuffer(shape()).Set(12345678));
  EXPECT_EQ(ParseKey(text.substr(0, text.size() - 1), shape()), std::nullopt);
  EXPECT_EQ(ParseKey(text + text.back(), shape()), std::nullopt);
}

// A key with one changed byte is another key or not a key, never the same one.
TEST_P(KeysOfShape, DependOnEveryByte) {
  KeyBuffer key(shape());
  const std::string text(key.Set(12345678));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_NE(ParseKey(damaged, shape()), 12345678u) << i;
  }
}

TEST_P(KeysOfShape, SortAsTheirIndexesIfTheShapeIsOrdered) {
  KeyBuffer one(shape()), other(shape());
  bool sorted = true;
  for (uint64_t index = 1; index < 100'000; index += 7) {
    sorted = sorted && one.Set(index - 1) < other.Set(index);
  }
  EXPECT_EQ(sorted, shape().ordered());
}

INSTANTIATE_TEST_SUITE_P(
    All, KeysOfShape,
    testing::Combine(testing::Values(8, 9, 15, 16, 17, 24, 1024),
                     testing::Values(KeyFormat::kDecimal, KeyFormat::kBig,
                                     KeyFormat::kLittle)));

TEST(Keys, OfFewDigitsLimitTheNumberOfKeys) {
  EXPECT_EQ(KeyShape(8).capacity(), 100'000'000u);
  EXPECT_EQ(KeyShape(15).capacity(), kMaxKeys / 10);
  EXPECT_EQ(KeyShape(16).capacity(), kMaxKeys);
  EXPECT_EQ(KeyShape(1024).capacity(), kMaxKeys);
  EXPECT_EQ(KeyShape(8, KeyFormat::kBig).capacity(), kMaxKeys);
}

}  // namespace
}  // namespace kvmatrix
