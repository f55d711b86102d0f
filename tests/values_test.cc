#include "common/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace kvmatrix {
namespace {

std::string Value(const Values& values, uint64_t key, uint32_t version) {
  std::string buffer(values.buffer_size(), '\0');
  values.Write(key, version, buffer.data());
  buffer.resize(values.value_size());
  return buffer;
}

class ValuesOfShape
    : public testing::TestWithParam<std::tuple<size_t, double>> {};

TEST_P(ValuesOfShape, MatchThemselvesAndNothingElse) {
  const auto [size, ratio] = GetParam();
  const Values values(301, size, ratio);
  const std::string value = Value(values, 17, 3);
  EXPECT_TRUE(values.Matches(17, 3, value));
  EXPECT_FALSE(values.Matches(17, 3, value + "x"));
  if (size == 0) return;
  EXPECT_FALSE(values.Matches(17, 3, value.substr(1)));
  if (size < 8) return;  // short values of two versions may be equal
  EXPECT_FALSE(values.Matches(17, 4, value));
  EXPECT_FALSE(values.Matches(18, 3, value));
  EXPECT_FALSE(Values(302, size, ratio).Matches(17, 3, value));
}

TEST_P(ValuesOfShape, EveryByteCounts) {
  const auto [size, ratio] = GetParam();
  const Values values(301, size, ratio);
  const std::string value = Value(values, 5, 1);
  for (size_t i = 0; i < size; i += size > 2000 ? 997 : 1) {
    for (const int bit : {0, 7}) {
      std::string damaged = value;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      ASSERT_FALSE(values.Matches(5, 1, damaged)) << "byte " << i;
    }
  }
}

TEST_P(ValuesOfShape, RepeatWithinPiecesOfAHundredBytes) {
  const auto [size, ratio] = GetParam();
  const std::string value = Value(Values(301, size, ratio), 9, 2);
  const size_t random_bytes =
      std::max<size_t>(1, static_cast<size_t>(100 * ratio));
  for (size_t i = 0; i < size; ++i) {
    const size_t in_piece = i % 100;
    if (in_piece < random_bytes) continue;
    ASSERT_EQ(value[i], value[i - in_piece + in_piece % random_bytes]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ValuesOfShape,
    testing::Combine(testing::Values(0, 1, 7, 8, 49, 50, 51, 99, 100, 101, 150,
                                     199, 200, 1000, 100'000),
                     testing::Values(0.0, 0.03, 0.1, 0.25, 0.5, 0.77, 1.0)));

TEST(Values, DifferInEveryKeyAndVersion) {
  const Values values(301, 16, 1.0);
  std::set<std::string> seen;
  for (uint64_t key = 0; key < 500; ++key) {
    for (uint32_t version = 1; version < 20; ++version) {
      EXPECT_TRUE(seen.insert(Value(values, key, version)).second);
    }
  }
}

// Raise kMethod when this changes: the stream of all measurements changes.
TEST(Values, AreTheRecordedOnes) {
  const Values values(301, 100, 0.5);
  uint64_t sum = 0;
  for (const char c : Value(values, 123456, 2)) {
    sum = sum * 31 + static_cast<unsigned char>(c);
  }
  EXPECT_EQ(sum, 15261116896774898228u);
  EXPECT_EQ(values.Fingerprint(123456, 2), 1799739194566091406u);
}

}  // namespace
}  // namespace kvmatrix
