#include "common/stream/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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
  EXPECT_TRUE(values.IsValueOf(values.Root(17, 3), value));
  EXPECT_FALSE(values.IsValueOf(values.Root(17, 3), value + "x"));
  if (size == 0) return;
  EXPECT_FALSE(values.IsValueOf(values.Root(17, 3), value.substr(1)));
  if (size < 8) return;  // short values of two versions may be equal
  EXPECT_FALSE(values.IsValueOf(values.Root(17, 4), value));
  EXPECT_FALSE(values.IsValueOf(values.Root(18, 3), value));
  EXPECT_FALSE(Values(302, size, ratio)
                   .IsValueOf(Values(302, size, ratio).Root(17, 3), value));
}

TEST_P(ValuesOfShape, EveryByteCounts) {
  const auto [size, ratio] = GetParam();
  const Values values(301, size, ratio);
  const std::string value = Value(values, 5, 1);
  for (size_t i = 0; i < size; i += size > 2000 ? 997 : 1) {
    for (const int bit : {0, 7}) {
      std::string damaged = value;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      ASSERT_FALSE(values.IsValueOf(values.Root(5, 1), damaged))
          << "byte " << i;
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

// Bytes written past a value stay within the buffer size that Values reports.
TEST(Values, KeepWithinTheBuffer) {
  const auto expect_within = [](const auto& write, size_t buffer_size) {
    std::string buffer(buffer_size + 1000, '?');
    write(buffer.data());
    EXPECT_EQ(buffer.substr(buffer_size), std::string(1000, '?'));
  };
  for (size_t size = 0; size < 450; ++size) {
    const Values fixed(301, size, 0.5);
    const Values any(301, ValueSizes::Uniform(size, size), 0.5);
    const auto sized = [&](char* to) { fixed.WriteSized(size + 1, size, to); };
    expect_within(sized, Values::BufferSize(size));
    for (const Values* values : {&fixed, &any}) {
      const auto write = [&](char* to) { values->Write(size, 1, to); };
      expect_within(write, values->buffer_size());
    }
  }
}

// A value is the same, and differs from all others, however its size was
// chosen.
TEST(Values, OfOneSizeAreTheSame) {
  for (const double ratio : {0.25, 0.5}) {
    for (size_t size = 1; size < 450; ++size) {
      const Values fixed(301, size, ratio);
      const Values any(301, ValueSizes::Uniform(size, size), ratio);
      std::string value = Value(fixed, 7, 1);
      ASSERT_EQ(value, Value(any, 7, 1)) << size;
      // With no byte behind it, so that the address sanitizer detects an
      // overrun.
      const std::vector<char> exact(value.begin(), value.end());
      ASSERT_TRUE(any.IsValueOf(any.Root(7, 1), {exact.data(), size})) << size;
      value[size / 2] = static_cast<char>(value[size / 2] ^ 4);
      ASSERT_FALSE(any.IsValueOf(any.Root(7, 1), value)) << size;
    }
  }
}

// Raise kMethod when this changes: the stream of all measurements changes.
TEST(Values, OfEverySizeAreTheRecordedOnes) {
  const Values values(301, ValueSizes::Uniform(0, 999), 0.5);
  uint64_t sum = 0;
  for (uint64_t key = 0; key < 20'000; ++key) {
    std::string buffer(values.buffer_size(), '\0');
    const size_t size = values.Write(key, 1, buffer.data());
    for (const char c : buffer.substr(0, size)) {
      sum = sum * 31 + static_cast<unsigned char>(c);
    }
  }
  EXPECT_EQ(sum, 2478605777562508765u);
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
