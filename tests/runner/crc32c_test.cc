// CRC-32C by the processor, with which LevelDB is compiled.

#include "drivers/crc32c/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace kvmatrix {
namespace {

// The definition: bit by bit, with Castagnoli's polynomial in reverse.
uint32_t BitByBit(uint32_t crc, const uint8_t* data, size_t size) {
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

class Crc32cTest : public testing::Test {
 protected:
  void SetUp() override {
    if (crc32c::Extend(0, nullptr, 0) != 0 || !crc32c::InUse())
      GTEST_SKIP() << "this processor has no such instruction";
  }
};

TEST_F(Crc32cTest, HasTheValueOfTheStandardsExample) {
  constexpr std::string_view kDigits = "123456789";
  const auto* data = reinterpret_cast<const uint8_t*>(kDigits.data());
  EXPECT_EQ(crc32c::Extend(0, data, kDigits.size()), 0xe3069283u);
}

TEST_F(Crc32cTest, EqualsTheDefinitionAtEverySizeAndContinues) {
  std::mt19937_64 engine(301);
  std::vector<uint8_t> bytes(300);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine());
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const uint32_t expected = BitByBit(0, bytes.data(), size);
    EXPECT_EQ(crc32c::Extend(0, bytes.data(), size), expected) << size;
    const size_t first = size / 3;
    const uint32_t begun = crc32c::Extend(0, bytes.data(), first);
    EXPECT_EQ(crc32c::Extend(begun, bytes.data() + first, size - first),
              expected);
  }
}

}  // namespace
}  // namespace kvmatrix
