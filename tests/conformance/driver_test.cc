// The conformance suite: what every driver must do, built once for each of
// them. The reference is a std::map; see model.h.

#include "common/driver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/conformance/model.h"

namespace kvmatrix {
namespace {

using std::string_literals::operator""s;

Options Asynchronous() {
  return {.path = {},
          .cache_size = 4 << 20,
          .compression = true,
          .durability = Durability::kBuffered,
          .expected_entries = 10};
}

Options Synchronous() {
  Options options = Asynchronous();
  options.durability = Durability::kDurable;
  return options;
}

Options Uncompressed() {
  Options options = Asynchronous();
  options.compression = false;
  return options;
}

// Bytes and sizes from a fixed seed.
class Chance {
 public:
  size_t Below(size_t limit) { return engine_() % limit; }
  std::string Bytes(size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine_());
    return bytes;
  }

 private:
  std::mt19937_64 engine_{301};
};

TEST(AnyDriver, DescribesItself) {
  EXPECT_STRNE(kDriver.name, "");
  EXPECT_STRNE(kDriver.licence, "");
  EXPECT_TRUE(IsVersion(kDriver.version())) << kDriver.version();
  EXPECT_NE(kDriver.code, nullptr);
}

TEST(AnyDriver, AcceptsEveryCall) {
  ModelledDatabase db(Asynchronous());
  db.Put("a", "1");
  db.Write({{"b", "2"}, {"a", std::nullopt}});
  db.session().Get("a");
  int visits = 0;
  db.session().Scan("", Order::kForward,
                    [&](auto, auto) { return ++visits < 3; });
  EXPECT_GE(visits, 1);
  db.database().Flush();
  db.database().Settle();
  WhyNotCompacted(db.database());
}

TEST(AnyDriver, ReportsItsSettingsAndLimitsBeforeTheFirstSession) {
  ModelledDatabase db(Asynchronous());
  db.Close();
  const auto database = kDriver.open(db.options());
  const Limits limits = database->GetLimits();
  for (const Limit& limit :
       {limits.key_size, limits.value_size, limits.batch_size}) {
    EXPECT_GT(limit.max, 0u);
  }
  const auto settings = database->EffectiveSettings();
  EXPECT_FALSE(settings.empty());
  for (const auto& [name, value] : settings) {
    EXPECT_NE(name, "");
    EXPECT_NE(value, "") << name;
  }
}

// The tests of contents, which do not apply to a driver that keeps nothing.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
  }
};

// Starts inside, between, before and past the entries, in each direction.
void ExpectSeeks(ModelledDatabase& db, const std::vector<std::string>& starts) {
  if (!IsOrdered()) return;
  for (const std::string& start : starts) {
    SCOPED_TRACE(testing::PrintToString(start));
    for (const size_t limit : {1, 3}) {
      db.ExpectScan(start, Order::kForward, limit);
      if (ScansBackward()) db.ExpectScan(start, Order::kBackward, limit);
    }
  }
}

TEST_F(DriverTest, StartsEmpty) {
  ModelledDatabase db(Asynchronous());
  db.ExpectGet("absent");
  db.ExpectEqual();
  ExpectSeeks(db, {"a"});
}

TEST_F(DriverTest, PutsOverwritesAndDeletes) {
  ModelledDatabase db(Asynchronous());
  db.Put("b", "first");
  db.Put("a", "1");
  db.Put("b", "2, longer than before");
  db.Put("c", "3");
  db.Put("a", "");
  db.Delete("c");
  db.Delete("absent");
  db.ExpectEqual();
  db.ExpectGet("c");
  db.Put("c", "again");
  db.ExpectEqual();
}

TEST_F(DriverTest, AppliesABatchInItsOrder) {
  ModelledDatabase db(Asynchronous());
  if (const auto why = WhyNotOf(db.limits().batch_size, 8))
    GTEST_SKIP() << *why;
  db.Put("old", "1");
  db.Write({{"new", "1"},
            {"old", std::nullopt},
            {"twice", "first"},
            {"twice", "last"},
            {"gone", "1"},
            {"gone", std::nullopt},
            {"back", std::nullopt},
            {"back", "1"}});
  db.ExpectGet("old");
  db.ExpectGet("gone");
  db.ExpectEqual();
}

TEST_F(DriverTest, DistinguishesAnEmptyValueFromAnAbsentKey) {
  ModelledDatabase db(Asynchronous());
  db.Put("empty", "");
  db.Put("null", std::string_view());
  db.Write({{"in", ""}, {"batch", std::string_view()}});
  db.ExpectEqual();
  db.Reopen();
  db.ExpectEqual();
}

TEST_F(DriverTest, AcceptsAnyByte) {
  ModelledDatabase db(Asynchronous());
  const std::vector<std::string> keys = {
      "\0"s, "\0\0"s, "\0\xff"s, "a"s,    "a\0"s,      "a\0b"s, "a\0c"s,
      "b"s,  "\x7f"s, "\x80"s,   "\xff"s, "\xff\xff"s, "\n"s,   "%s'\""s};
  for (const std::string& key : keys) db.Put(key, key + "\0value\0"s);
  db.ExpectGet("a\0d"s);
  db.ExpectEqual();
  ExpectSeeks(db, keys);
  ExpectSeeks(db, {"a\0a"s, "\x01"s, "\xff\xff\xff"s});
  db.Delete("a\0b"s);
  db.ExpectEqual();
}

TEST_F(DriverTest, AcceptsKeysOfEveryLength) {
  ModelledDatabase db(Asynchronous());
  const size_t most = std::min<uint64_t>(300, db.limits().key_size.max);
  for (size_t size = 1; size <= most; ++size) {
    const char letter = static_cast<char>('a' + size % 26);
    db.Put(std::string(size, letter), std::to_string(size));
  }
  db.ExpectEqual();
  ExpectSeeks(db, {std::string(150, 'k'), std::string(301, 'k'), "k"});
}

TEST_F(DriverTest, AcceptsLargeValues) {
  ModelledDatabase db(Asynchronous());
  if (const auto why = WhyNotOf(db.limits().value_size, 1'000'000))
    GTEST_SKIP() << *why;
  Chance chance;
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    db.Put(key, chance.Bytes(100'000));
  }
  db.Put("b", chance.Bytes(100'000));
  db.Put("c", "small");
  db.Put("d", std::string(1'000'000, 'x'));
  db.Delete("e");
  db.ExpectEqual();
  db.Reopen();
  db.ExpectEqual();
}

TEST_F(DriverTest, ScansFromAnyKey) {
  ModelledDatabase db(Asynchronous());
  for (int i = 0; i < 2000; i += 2) {
    db.Put(std::to_string(10'000 + i), std::to_string(i));
  }
  std::vector<std::string> starts = {"", "0", "9", "1", "12"};
  for (int i = 0; i < 2000; i += 37)
    starts.push_back(std::to_string(10'000 + i));
  ExpectSeeks(db, starts);
  if (IsOrdered()) db.ExpectScan("10500", Order::kForward);
  if (ScansBackward()) db.ExpectScan("10501", Order::kBackward);
  db.database().Settle();
  ExpectSeeks(db, starts);
}

TEST_F(DriverTest, PassesOnAnExceptionOfAScan) {
  ModelledDatabase db(Asynchronous());
  for (const char* key : {"a", "b", "c"}) db.Put(key, "value");
  const auto fail = [](auto, auto) -> bool { throw std::logic_error("stop"); };
  EXPECT_THROW(db.session().Scan("", Order::kForward, fail), std::logic_error);
  db.ExpectEqual();
  db.Put("d", "value");
  db.ExpectEqual();
}

void RunAtRandom(ModelledDatabase& db, int operations) {
  Chance chance;
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i)
    keys.push_back(chance.Bytes(1 + chance.Below(40)));
  const auto key = [&]() -> const std::string& {
    return keys[chance.Below(3000)];
  };
  const auto value = [&] {
    return chance.Bytes(chance.Below(chance.Below(50) == 0 ? 9000 : 200));
  };
  for (int i = 0; i < operations; ++i) {
    const size_t choice = chance.Below(10);
    if (choice < 4) {
      db.Put(key(), value());
    } else if (choice < 6) {
      db.Delete(key());
    } else if (choice < 9) {
      db.ExpectGet(key());
    } else if (chance.Below(10) == 0) {
      const std::vector<std::string> values = {value(), value(), value()};
      db.Write({{key(), values[0]},
                {key(), values[1]},
                {key(), std::nullopt},
                {key(), values[2]}});
    } else if (IsOrdered()) {
      const bool backward = chance.Below(2) == 0 && ScansBackward();
      db.ExpectScan(key(), backward ? Order::kBackward : Order::kForward,
                    1 + chance.Below(5));
    }
    if (testing::Test::HasFailure()) FAIL() << "at operation " << i;
  }
}

TEST_F(DriverTest, FollowsTheModelCompressed) {
  ModelledDatabase db(Asynchronous());
  RunAtRandom(db, 20'000);
  db.ExpectEqual();
  db.Reopen();
  db.ExpectEqual();
}

TEST_F(DriverTest, FollowsTheModelUncompressed) {
  ModelledDatabase db(Uncompressed());
  RunAtRandom(db, 20'000);
  db.ExpectEqual();
  db.Reopen();
  db.ExpectEqual();
}

TEST_F(DriverTest, FollowsTheModelSynchronously) {
  if (const auto why = WhyNotOpened(Synchronous())) GTEST_SKIP() << *why;
  ModelledDatabase db(Synchronous());
  RunAtRandom(db, 100);
  db.ExpectEqual();
  db.Reopen();
  db.ExpectEqual();
}

TEST_F(DriverTest, FollowsTheModelWithoutCache) {
  Options options = Asynchronous();
  options.cache_size = 0;
  ModelledDatabase db(options);
  RunAtRandom(db, 1000);
  db.ExpectEqual();
}

// A view of Get() may be out when these are called.
TEST_F(DriverTest, KeepsItsContentsThroughFlushSettleAndCompact) {
  ModelledDatabase db(Asynchronous());
  using Push = void (*)(Database&);
  const Push flush = [](Database& database) { database.Flush(); };
  const Push settle = [](Database& database) { database.Settle(); };
  const Push compact = [](Database& database) { WhyNotCompacted(database); };
  for (const Push push : {flush, settle, compact, settle}) {
    push(db.database());  // with nothing new to do
    RunAtRandom(db, 1000);
    db.Put("last", "value");
    EXPECT_TRUE(db.session().Get("last").has_value());
    push(db.database());
    db.ExpectEqual();
  }
  db.Reopen();
  db.ExpectEqual();
}

// Limits of a gigabyte are not tried out: a test has less memory.
TEST_F(DriverTest, AcceptsWhatItsLimitsAllow) {
  ModelledDatabase db(Asynchronous());
  const Limits limits = db.limits();
  const auto size = [](const Limit& limit, uint64_t most) {
    return static_cast<size_t>(std::min(limit.max, most));
  };
  const std::string key(size(limits.key_size, 1024), 'k');
  const std::string value(size(limits.value_size, 1 << 20), 'v');
  db.Put(key, value);
  db.ExpectGet(key + "k");
  ExpectSeeks(db, {key + "k"});
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(std::to_string(i));
  std::vector<Update> batch(size(limits.batch_size, keys.size()));
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = {keys[i], keys[i]};
  db.Write(batch);
  db.ExpectEqual();
}

TEST_F(DriverTest, KeepsAViewUntilTheNextCall) {
  ModelledDatabase db(Asynchronous());
  Chance chance;
  const std::string large = chance.Bytes(100'000);
  db.Put("large", large);
  db.Put("small", "value");
  const auto view = db.session().Get("large");
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(EqualBytes(*view, large));
  EXPECT_EQ(db.session().Get("small"), "value");
  EXPECT_EQ(db.session().Get("absent"), std::nullopt);
}

TEST_F(DriverTest, ShowsOneSessionsWritesToTheNext) {
  ModelledDatabase db(Asynchronous());
  for (const char* key : {"a", "b", "c"}) {
    db.Put(key, "value");
    db.NewSession();
    db.ExpectEqual();
  }
}

TEST_F(DriverTest, ReopensManyTimes) {
  ModelledDatabase db(Asynchronous());
  for (int i = 0; i < 10; ++i) {
    db.Put(std::to_string(i), std::string(10'000, static_cast<char>('a' + i)));
    db.Reopen();
    db.ExpectEqual();
  }
}

TEST_F(DriverTest, RefusesAnUnusablePath) {
  const ModelledDatabase db(Asynchronous());
  Options options = db.options();
  options.path /= "absent/absent";
  try {
    kDriver.open(options);
    FAIL() << "no exception";
  } catch (const std::exception& error) {
    EXPECT_GT(std::strlen(error.what()), 10u) << error.what();
  }
}

// 10,000 values of 1,000 bytes, most of them one letter, as logs may remain.
uint64_t FilledBytes(const Options& options) {
  ModelledDatabase db(options);
  Chance chance;
  for (int i = 0; i < 10'000; ++i) {
    db.Put(std::to_string(100'000 + i),
           chance.Bytes(100) + std::string(900, 'x'));
  }
  WhyNotCompacted(db.database());  // a log or a memtable is not compressed
  db.Close();
  return db.DiskBytes();
}

TEST_F(DriverTest, CompressesIfItHasACodec) {
  const double plain = static_cast<double>(FilledBytes(Uncompressed()));
  const double packed = static_cast<double>(FilledBytes(Asynchronous()));
  if (*kDriver.codec != '\0') {
    EXPECT_LT(packed / plain, 0.75);
  } else {
    EXPECT_NEAR(packed / plain, 1, 0.05);
  }
}

}  // namespace
}  // namespace kvmatrix
