// The levels of durability: a driver opens each one that its engine has, and
// says what the engine's documentation promises.  Built once for each driver,
// like driver_test.cc.  What is left after a crash of the machine is not tested
// here.

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "common/driver.h"
#include "common/timing/barriers.h"
#include "tests/conformance/model.h"

namespace kvmatrix {
namespace {

constexpr Durability kLevels[] = {
    Durability::kBuffered, Durability::kConsistent, Durability::kDurable};

constexpr uint64_t kWrites = 10;

Options With(Durability durability) {
  return {.path = {},
          .cache_size = 1 << 20,
          .compression = true,
          .durability = durability};
}

Guarantee GuaranteeOf(Durability durability) {
  return kDriver.guarantees().at(static_cast<size_t>(durability));
}

TEST(DriverDurabilityTest, PromisesAtLeastWhatIsAsked) {
  for (const Durability level : kLevels) {
    const auto& [promise, source] = GuaranteeOf(level);
    EXPECT_EQ(promise.has_value(), std::strlen(source) > 0);
    if (!promise) continue;
    if (level == Durability::kDurable) {
      EXPECT_EQ(promise, Promise::kLosesNothing);
    } else if (level == Durability::kConsistent) {
      EXPECT_NE(promise, Promise::kMayBeCorrupt);
    }
  }
  EXPECT_TRUE(Has(Durability::kBuffered));
}

TEST(DriverDurabilityTest, RefusesTheLevelsThatTheEngineLacksAndNoOther) {
  for (const Durability level : kLevels) WhyNotOpened(With(level));
}

// Levels with different promises are different settings of the engine.
TEST(DriverDurabilityTest, ReportsSettingsThatDiffer) {
  std::map<Promise, std::map<std::string, std::string>> by_promise;
  for (const Durability level : kLevels) {
    const auto promise = GuaranteeOf(level).promise;
    if (!promise) continue;
    ModelledDatabase db(With(level));
    by_promise[*promise] = db.database().EffectiveSettings();
  }
  for (const auto& [promise, settings] : by_promise) {
    for (const auto& [other, its_settings] : by_promise) {
      EXPECT_EQ(settings == its_settings, promise == other);
    }
  }
}

// Returns the barriers of ten writes of one entry.
uint64_t BarriersOfWrites(ModelledDatabase& db, const std::string& value) {
  const uint64_t before = Barriers();
  for (uint64_t i = 0; i < kWrites; ++i) db.Put(std::to_string(i), value);
  return Barriers() - before;
}

// A promise that nothing is lost costs a barrier for each write.
TEST(DriverDurabilityTest, IssuesABarrierForEachWriteThatIsNotLost) {
  if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
  if (kDriver.hides_barriers) GTEST_SKIP() << "they cannot be counted";
  if (const auto why = WhyNotOpened(With(Durability::kDurable)))
    GTEST_SKIP() << *why;
  const gflags::FlagSaver flags;
  ModelledDatabase db(With(Durability::kDurable));
  EXPECT_GE(BarriersOfWrites(db, "value"), kWrites);
}

// Switches back and forth at each weaker level, with the driver's flags as they
// are.
void ExpectSwitches() {
  const gflags::FlagSaver flags;
  const uint64_t least = kDriver.hides_barriers ? 0 : kWrites;
  for (const Durability level :
       {Durability::kBuffered, Durability::kConsistent}) {
    if (!Has(level)) continue;
    SCOPED_TRACE(static_cast<int>(level));
    // At others, a write that may be lost may have a barrier too.
    const bool has_few = level == Durability::kBuffered &&
                         GuaranteeOf(level).promise != Promise::kLosesNothing;
    ModelledDatabase db(With(level));
    for (int round = 0; round < 2; ++round) {
      db.session().SetDurable(false);
      const uint64_t buffered = BarriersOfWrites(db, "buffered");
      EXPECT_TRUE(buffered < kWrites || !has_few);
      db.ExpectEqual();
      db.session().SetDurable(true);
      EXPECT_GE(BarriersOfWrites(db, "durable"), least);
      db.Write({{"a", "1"}, {"5", std::nullopt}, {"b", "2"}});
      db.ExpectEqual();
    }
    WhyNotCompacted(db.database());  // if not, the engine may be opened again
    EXPECT_GE(BarriersOfWrites(db, "still durable"), least);
    EXPECT_FALSE(db.database().EffectiveSettings().empty());
    db.ExpectEqual();
    db.Reopen();
    db.ExpectEqual();
  }
}

TEST(DriverDurabilityTest, SwitchesForTheNextWrites) {
  if (!kDriver.mixes_durability) GTEST_SKIP() << "one level for all writes";
  ExpectSwitches();
}

// Of engines that have such a flag: settings of which a switch must take care.
TEST(DriverDurabilityTest, SwitchesUnderOtherFlags) {
  if (!kDriver.mixes_durability) GTEST_SKIP() << "one level for all writes";
  constexpr std::pair<const char*, const char*> kFlags[] = {
      {"autotran", "false"},        {"buffered_autotran", "true"},
      {"disable_wal", "true"},      {"journal_mode", "delete"},
      {"journal_mode", "persist"},  {"journal_mode", "truncate"},
      {"manual_wal_flush", "true"}, {"sync_by_synchronize", "true"},
      {"synchronous", "extra"},     {"synchronous", "off"},
      {"writemap", "true"}};
  for (const auto& [name, value] : kFlags) {
    SCOPED_TRACE(std::string(name) + "=" + value);
    const gflags::FlagSaver flags;
    if (!gflags::SetCommandLineOption(name, value).empty()) ExpectSwitches();
  }
}

// A database is prepared at the weakest level, and measured at another.
TEST(DriverDurabilityTest, OpensWhatWasWrittenAtAWeakerLevel) {
  if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
  ModelledDatabase db(With(Durability::kBuffered));
  for (const Durability level : kLevels) {
    if (!Has(level)) continue;
    SCOPED_TRACE(static_cast<int>(level));
    db.ReopenWith(level);
    db.ExpectEqual();
    for (int i = 0; i < 20; ++i)
      db.Put(std::to_string(i * 7 % 20), std::string(500, 'x'));
    db.Write({{"a", "1"}, {"5", std::nullopt}, {"b", "2"}});
    EXPECT_FALSE(db.database().EffectiveSettings().empty());
    db.ExpectEqual();
  }
}

TEST(DriverDurabilityTest, StoresAtEachLevel) {
  if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
  for (const Durability level : kLevels) {
    if (!Has(level)) continue;
    ModelledDatabase db(With(level));
    for (int i = 0; i < 20; ++i)
      db.Put(std::to_string(i), std::string(500, 'x'));
    db.Write({{"a", "1"}, {"5", std::nullopt}, {"b", "2"}});
    db.ExpectEqual();
    WhyNotCompacted(db.database());
    db.Put("c", "3");
    db.ExpectEqual();
    db.Reopen();
    db.ExpectEqual();
  }
}

}  // namespace
}  // namespace kvmatrix
