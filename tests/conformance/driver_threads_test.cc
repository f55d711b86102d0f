// What a driver promises to the sessions of several threads.  Built once for
// each driver, like driver_test.cc.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "common/driver.h"
#include "tests/conformance/model.h"

namespace kvmatrix {
namespace {

constexpr int kThreads = 4;
constexpr int kKeys = 16;
constexpr int kWrites = 400;
constexpr int kScans = 100;

Options Shared() {
  return {.path = {},
          .cache_size = 4 << 20,
          .compression = true,
          .durability = Durability::kBuffered,
          .threads = kThreads};
}

std::string KeyOf(int key) { return "key" + std::to_string(100 + key); }

// The version, then enough bytes that the entries fill several pages.
std::string ValueOf(int version) {
  return std::to_string(version) + ":" + std::string(300 + version % 7, 'x');
}
int VersionOf(std::string_view value) {
  const int version = std::stoi(std::string(value));
  EXPECT_EQ(value, ValueOf(version));
  return version;
}

// Runs work(thread, session) on threads that start together, each with a
// session created, used and destroyed on that thread.
void OnThreads(Database& database,
               const std::function<void(int, Session&)>& work) {
  std::latch start(kThreads);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::unique_ptr<Session> session;
      try {
        session = database.NewSession();
        start.arrive_and_wait();
        work(i, *session);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << i << ": " << error.what();
        if (session == nullptr) start.count_down();
      }
    });
  }
}

class DriverThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kDriver.stores) GTEST_SKIP() << kDriver.name << " keeps nothing";
    if (const auto why = WhyNotOpened(Shared())) GTEST_SKIP() << *why;
    db_.emplace(Shared());
  }

  // A session of this thread stays open alongside those of the others.
  std::optional<ModelledDatabase> db_;
};

TEST_F(DriverThreadsTest, KeepsWhatEveryThreadWrites) {
  OnThreads(db_->database(), [](int thread, Session& session) {
    for (int i = 0; i < kWrites; ++i) {
      const std::string key = KeyOf(thread * kWrites + i), value = ValueOf(i);
      const Update put{key, value};
      session.Write({&put, 1});
      if (i % 3 != 0) continue;
      const Update erase{key, std::nullopt};
      session.Write({&erase, 1});
    }
  });
  db_->database().Flush();
  db_->database().Settle();
  for (int pass = 0; pass < 2; ++pass) {
    int found = 0;
    db_->session().Scan("", Order::kForward, [&](auto, auto value) {
      EXPECT_NE(VersionOf(value) % 3, 0);
      return ++found > 0;
    });
    EXPECT_EQ(found, kThreads * (kWrites - (kWrites + 2) / 3));
    db_->Reopen();
  }
}

// A write that has returned must be visible to every thread.
TEST_F(DriverThreadsTest, ShowsAnAcknowledgedWriteToEveryThread) {
  std::atomic<int> written[kKeys] = {};
  std::atomic<bool> done = false;
  OnThreads(db_->database(), [&](int thread, Session& session) {
    for (int i = 0; thread == 0 && i < kWrites; ++i) {
      const std::string key = KeyOf(i % kKeys), value = ValueOf(i / kKeys + 1);
      const Update put{key, value};
      session.Write({&put, 1});
      ++written[i % kKeys];
    }
    if (thread == 0) done = true;
    for (int i = 0; thread != 0 && (!done || i < kKeys); ++i) {
      const int least = written[i % kKeys];
      const auto value = session.Get(KeyOf(i % kKeys));
      const int version = value ? VersionOf(*value) : 0;
      ASSERT_GE(version, least);
      ASSERT_LE(version, written[i % kKeys] + 1);
    }
  });
}

TEST_F(DriverThreadsTest, ScansDuringWrites) {
  for (int i = 0; i < kKeys; ++i) db_->Put(KeyOf(i), ValueOf(1));
  OnThreads(db_->database(), [&](int thread, Session& session) {
    for (int i = 0; thread == 0 && i < kWrites; ++i) {
      const std::string key = KeyOf(i % kKeys), value = ValueOf(i + 2);
      const Update put{key, value};
      session.Write({&put, 1});
    }
    for (int i = 0; thread != 0 && i < kScans; ++i) {
      std::string before;
      int found = 0;
      session.Scan("", Order::kForward, [&](auto key, auto value) {
        EXPECT_TRUE(before < key || !IsOrdered());
        before = key;
        return VersionOf(value) > 0 && ++found > 0;
      });
      // Without an order, a record that is moved may be skipped or visited
      // twice.
      ASSERT_TRUE(found == kKeys || !IsOrdered()) << found;
    }
  });
}

TEST_F(DriverThreadsTest, AppliesTheWholeOfABatch) {
  if (const auto why = WhyNotOf(db_->limits().batch_size, 2))
    GTEST_SKIP() << *why;
  OnThreads(db_->database(), [&](int thread, Session& session) {
    for (int i = 0; i < kWrites / 4; ++i) {
      const std::string key = KeyOf(2 * thread), next = KeyOf(2 * thread + 1);
      const std::string value = ValueOf(i);
      const std::vector<Update> batch = {{key, value}, {next, value}};
      session.Write(batch);
      const auto mine = session.Get(next);
      ASSERT_TRUE(mine.has_value());
      ASSERT_EQ(VersionOf(*mine), i);
    }
  });
  int found = 0;
  db_->session().Scan("", Order::kForward, [&](auto, auto value) {
    EXPECT_EQ(VersionOf(value), kWrites / 4 - 1);
    return ++found > 0;
  });
  EXPECT_EQ(found, 2 * kThreads);
}

// Every method of Database, while a session of another thread is idle and the
// view of its last Get() has not been given up.
TEST_F(DriverThreadsTest, WorksOnTheDatabaseWhileSessionsAreIdle) {
  using Call = std::function<void(Database&)>;
  const Call compact = [](Database& database) { WhyNotCompacted(database); };
  for (const Call& call :
       {Call(&Database::Flush), Call(&Database::Settle), compact,
        Call(&Database::EffectiveSettings), Call(&Database::Counters)}) {
    db_->Put("a", "1");
    std::latch idle(1), called(1);
    const std::jthread thread([&] {
      const auto other = db_->database().NewSession();
      EXPECT_EQ(other->Get("a"), "1");
      idle.count_down();
      called.wait();
      EXPECT_EQ(other->Get("a"), "2");
    });
    idle.wait();
    EXPECT_EQ(db_->session().Get("a"), "1");
    call(db_->database());
    EXPECT_EQ(db_->session().Get("a"), "1");
    db_->Put("a", "2");
    called.count_down();
  }
  for (const auto& [name, count] : db_->database().Counters()) {
    EXPECT_NE(name, "");
    EXPECT_LT(count, 1'000u) << name;
  }
}

}  // namespace
}  // namespace kvmatrix
