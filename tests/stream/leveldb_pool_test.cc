// The generator and the value pool of LevelDB's db_bench, compared with numbers
// computed by its own sources.

#include "common/stream/leveldb_pool.h"

#include <gtest/gtest.h>

#include <bitset>
#include <memory>

#include "common/random/leveldb_random.h"
#include "tests/stream/sha256.h"

namespace kvmatrix {
namespace {

TEST(Sha256, IsTheStandardOne) {  // the examples of FIPS 180-4
  EXPECT_EQ(Sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(LevelDbRandom, IsTheMinimalStandardGenerator) {
  LevelDbRandom random(1);
  uint32_t last = 0;
  for (int i = 0; i < 10'000; ++i) last = random.Next();
  EXPECT_EQ(last, 1043618065u);  // Park and Miller, CACM 31 (1988), page 1195
}

TEST(LevelDbRandom, AcceptsEverySeed) {
  for (const uint32_t seed : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    EXPECT_EQ(LevelDbRandom(seed).Next(), 16807u) << seed;
  }
}

// The number of different keys among a million draws from a million.
size_t DistinctKeys(uint32_t seed) {
  constexpr uint32_t kKeys = 1'000'000;
  LevelDbRandom random(seed);
  const auto seen = std::make_unique<std::bitset<kKeys>>();
  for (uint32_t i = 0; i < kKeys; ++i) seen->set(random.Uniform(kKeys));
  return seen->count();
}

TEST(LevelDbRandom, FillsAsManyKeysAsTheOriginal) {
  EXPECT_EQ(DistinctKeys(1003), 631'873u);  // fillrandom of the default list
}

TEST(LevelDbPool, IsTheOriginal) {
  const LevelDbPool half(0.5);
  EXPECT_EQ(half.bytes().size(), 1'048'600u);
  EXPECT_EQ(half.bytes().substr(0, 40),
            R"(^{Vhz"!/%wMZ;'a F/REZJ4Tw@%NXxy2?.ArVCZ2)");
  EXPECT_EQ(Sha256(half.bytes()),
            "c4ec55cbcf1bd08cff2e94b4836decba76fbae140228eb4a9bf3a03496b61fc7");
  EXPECT_EQ(Sha256(LevelDbPool(1.0).bytes()),
            "2b5c6dfe0d6b3d170ce07ed9fd892b5bc8c5a4fcf2242358c0d413e656f9faef");
}

TEST(LevelDbPool, RepeatsAtLeastOneCharacter) {
  const LevelDbPool pool(0.0);
  EXPECT_EQ(pool.bytes().substr(0, 100), std::string(100, pool.bytes()[0]));
}

TEST(PoolWindows, SlideAndStartAgainWhereTheRestIsTooShort) {
  PoolWindows windows(250);
  EXPECT_EQ(windows.Next(100), 0u);
  EXPECT_EQ(windows.Next(100), 100u);
  EXPECT_EQ(windows.Next(50), 200u);  // to the very end
  EXPECT_EQ(windows.Next(100), 0u);
  EXPECT_EQ(windows.Next(10), 100u);
  EXPECT_EQ(windows.Next(249), 0u);
}

}  // namespace
}  // namespace kvmatrix
