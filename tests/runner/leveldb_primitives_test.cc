// db_bench's benchmarks that do not use a database, and the checksum with which
// LevelDB is compiled.

#include "common/loops/leveldb_primitives.h"

#include <random>
#include <vector>

#include "drivers/crc32c/crc32c.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

uint64_t flipped_at;  // the call whose result is damaged; 0: none
uint64_t calls;
bool unable;  // to be asked

class PrimitiveLoopTest : public RunnerFixture {
 protected:
  PrimitiveLoopTest() {
    calls = flipped_at = 0;
    unable = false;
  }
};

void Damage(std::string& output) {
  if (++calls == flipped_at) output[0] = static_cast<char>(output[0] ^ 1);
}

// A correct checksum, and a codec that changes nothing.
void Checksum(std::string_view input, std::string& output) {
  if (unable) throw Unsupported("shows no checksum");
  static const uint32_t kCrc = Crc32c(input);
  output.assign(reinterpret_cast<const char*>(&kCrc), sizeof(kCrc));
  Damage(output);
}
void Store(std::string_view input, std::string& output) {
  output.assign(input);
  Damage(output);
}

TEST(Crc32c, EqualsTheStandardVectors) {  // RFC 3720, B.4
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
}

TEST_F(PrimitiveLoopTest, DoesWhatDbBenchDoes) {
  const auto m = Run(Wrapped({}), {"crc32c", "snappycomp", "snappyuncomp"});
  for (const Measurement& measurement : m) {
    EXPECT_EQ(measurement.status, Status::kOk) << measurement.reason;
    EXPECT_EQ(measurement.run.loop.operations, measurement.planned_operations);
    EXPECT_EQ(measurement.run.loop.bytes,
              measurement.run.loop.operations * 4096);
  }
  EXPECT_EQ(m[0].run.loop.operations, 128'000u);
  EXPECT_EQ(m[0].run.loop.label, "4K per op");
  EXPECT_EQ(m[1].run.loop.operations, 262'144u);
  EXPECT_EQ(m[1].run.loop.label, "output: 100.0%");
}

TEST_F(PrimitiveLoopTest, DetectsOneWrongResult) {
  for (const std::string_view name : {"crc32c", "snappycomp", "snappyuncomp"}) {
    for (const uint64_t at : {3, 1000, 128'000}) {
      calls = 0;
      flipped_at = at;
      const auto m = Run(Wrapped({}), {name});
      EXPECT_EQ(m[0].status, Status::kWrong) << name << " " << at;
    }
  }
}

TEST_F(PrimitiveLoopTest, WithoutTheLibraryIsUnsupported) {
  unable = true;
  const auto m = Run(Wrapped({}), {"crc32c"});
  EXPECT_EQ(m[0].status, Status::kUnsupported);
  EXPECT_EQ(clock_.readings, 3u);  // none of a loop
}

TEST_F(PrimitiveLoopTest, DetectsACodecThatLosesBytes) {
  flipped_at = 2;  // what the first, timed by nobody, gives back
  const auto m = Run(Wrapped({}), {"snappycomp"});
  EXPECT_EQ(m[0].status, Status::kWrong);
}

TEST_F(PrimitiveLoopTest, LeavesTheDatabaseAlone) {
  const auto m = Run(Wrapped({}), {"fillseq", "crc32c", "verify"});
  EXPECT_EQ(m[2].status, Status::kOk) << m[2].reason;
  EXPECT_EQ(m[2].run.loop.operations, 500u);
}

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

const LevelDbPrimitives kLevelDbPrimitives = {
    .crc32c = Checksum, .compress = Store, .uncompress = Store};

}  // namespace kvmatrix
