// What Flush() promises: everything written before it survives kill -9.  Built
// once for each driver, like driver_test.cc.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <random>

#include "common/driver.h"
#include "tests/conformance/model.h"

namespace kvmatrix {
namespace {

using Model = std::map<std::string, std::string, std::less<>>;

// What a process writes before it is killed.
struct Written {
  const char* name;
  bool compression = true;
  Durability durability = Durability::kBuffered;
  size_t batch_size = 1;
  size_t batches;
  size_t keys;  // number of different keys
  size_t value_size;

  friend void PrintTo(const Written& written, std::ostream* out) {
    *out << written.name;
  }
};

// Calls `consume` with batches of puts, some of which overwrite, and one delete
// in eight updates, from a fixed seed.
template <typename Consumer>  // void(const std::vector<Update>& batch)
void ForEachBatch(const Written& written, Consumer consume) {
  std::mt19937_64 engine(301);
  std::vector<std::string> keys(written.batch_size), values(keys);
  std::vector<Update> batch(written.batch_size);
  for (size_t i = 0; i < written.batches; ++i) {
    for (size_t j = 0; j < batch.size(); ++j) {
      keys[j] = std::to_string(1'000'000 + engine() % written.keys);
      values[j].assign(written.value_size, 'x');
      for (size_t at = 0; at < written.value_size; at += 2)
        values[j][at] = static_cast<char>(engine());
      batch[j] = {keys[j], values[j]};
      if (engine() % 8 == 0) batch[j].value.reset();
    }
    consume(batch);
  }
}

Model Expected(const Written& written) {
  Model model;
  ForEachBatch(written, [&](const std::vector<Update>& batch) {
    for (const auto& [key, value] : batch) {
      if (value) {
        model.insert_or_assign(std::string(key), *value);
      } else {
        model.erase(std::string(key));
      }
    }
  });
  return model;
}

// Returns all entries in key order; stops at a key that occurs twice.
std::vector<Entry> Entries(Session& session) {
  Model entries;
  session.Scan({}, Order::kForward, [&](auto key, auto value) {
    const bool is_new = entries.emplace(key, value).second;
    EXPECT_TRUE(is_new) << "the scan visits a key twice: " << key;
    return is_new;
  });
  return {entries.begin(), entries.end()};
}

// The process that is killed is this executable, started again (gtest calls
// that "threadsafe"): engines have threads, which fork() alone would not copy.
// Both processes find the database through an environment variable.
class CrashDeathTest : public testing::TestWithParam<Written> {
 protected:
  void SetUp() override {
    if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
    const auto why = WhyNotWritten();
    ASSERT_FALSE(HasFailure());  // which would not be skipped
    if (why) GTEST_SKIP() << *why;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::string path = testing::TempDir() + "kvmatrix_XXXXXX";
    if (std::getenv(kVariable) != nullptr) return;
    ASSERT_NE(mkdtemp(path.data()), nullptr) << path;
    setenv(kVariable, path.c_str(), 1);
  }
  void TearDown() override {
    if (std::getenv(kVariable) == nullptr) return;
    std::filesystem::remove_all(std::getenv(kVariable));
    unsetenv(kVariable);
  }

  static Options OptionsAt(const char* path) {
    return {.path = path,
            .cache_size = 1 << 20,
            .compression = GetParam().compression,
            .durability = GetParam().durability};
  }

  static std::unique_ptr<Database> Open() {
    return kDriver.open(OptionsAt(std::getenv(kVariable)));
  }

  static WhyNot WhyNotWritten() {
    if (const auto why = WhyNotOpened(OptionsAt(""))) return why;
    const Limits limits = ModelledDatabase(OptionsAt("")).limits();
    if (const auto why = WhyNotOf(limits.value_size, GetParam().value_size))
      return why;
    return WhyNotOf(limits.batch_size, GetParam().batch_size);
  }

  void WriteFlushAndDie() const {
    const auto database = Open();
    const auto session = database->NewSession();
    ForEachBatch(GetParam(), [&](const std::vector<Update>& batch) {
      session->Write(batch);
    });
    database->Flush();
    kill(getpid(), SIGKILL);
  }

 private:
  static constexpr char kVariable[] = "KVMATRIX_CRASH_TEST";
};

TEST_P(CrashDeathTest, FindsAllThatWasFlushed) {
  EXPECT_EXIT(WriteFlushAndDie(), testing::KilledBySignal(SIGKILL), "");
  const Model expected = Expected(GetParam());
  const auto database = Open();
  const auto session = database->NewSession();
  for (const auto& [key, value] : expected) {
    const auto actual = session->Get(key);
    ASSERT_TRUE(actual.has_value()) << key;
    ASSERT_TRUE(EqualBytes(*actual, value)) << key;
  }
  EXPECT_TRUE(
      EqualEntries(Entries(*session), {expected.begin(), expected.end()}));
  session->Write(std::vector<Update>{{"later", "1"}});
  EXPECT_EQ(session->Get("later"), "1");
}

INSTANTIATE_TEST_SUITE_P(
    All, CrashDeathTest,
    testing::Values(
        Written{.name = "OneEntry", .batches = 1, .keys = 1, .value_size = 10},
        Written{.name = "Asynchronous",
                .batches = 5'000,
                .keys = 3'000,
                .value_size = 100},
        Written{.name = "Synchronous",
                .durability = Durability::kDurable,
                .batches = 50,
                .keys = 40,
                .value_size = 100},
        Written{.name = "Uncompressed",
                .compression = false,
                .batches = 5'000,
                .keys = 3'000,
                .value_size = 100},
        Written{.name = "Batches",
                .batch_size = 100,
                .batches = 100,
                .keys = 5'000,
                .value_size = 100},
        Written{.name = "SynchronousBatches",
                .durability = Durability::kDurable,
                .batch_size = 10,
                .batches = 5,
                .keys = 40,
                .value_size = 100},
        Written{.name = "LargeValues",
                .batches = 100,
                .keys = 60,
                .value_size = 100'000},
        // Larger than a memtable, a cache and the log between two checkpoints.
        Written{.name = "Large",
                .batches = 80'000,
                .keys = 50'000,
                .value_size = 200}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kvmatrix
