// Two databases in one process that answer alternately.

#include "drivers/plugins/duet.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/driver.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kTurn = Turns::kCallsPerTurn;

// The turns of `groups` groups, and one call more: "ABBABAAB" of two.  A call
// of a side takes its time of `cpu_ns`.
std::string Play(Turns& turns, size_t groups, const std::vector<uint64_t>& each,
                 uint64_t& cpu_ns) {
  std::string sides;
  for (size_t turn = 0; turn < groups * Turns::kTurns; ++turn) {
    for (uint64_t call = 0; call < kTurn; ++call) {
      const size_t side = turns.Next();
      if (call == 0) sides += side == 0 ? 'A' : 'B';
      EXPECT_EQ(side == 0 ? 'A' : 'B', sides.back());
      cpu_ns += each[side];
    }
  }
  turns.Next();
  return sides;
}

TEST(Turns, AlternateInGroupsThatEitherSideLeads) {
  uint64_t cpu_ns = 17;
  Turns turns([&cpu_ns] { return cpu_ns; });
  EXPECT_EQ(Play(turns, 4, {1, 1}, cpu_ns), "ABBABAABABBABAAB");
}

TEST(Turns, HaveTheTimesOfTheirSides) {
  uint64_t cpu_ns = 17;
  Turns turns([&cpu_ns] { return cpu_ns; });
  Play(turns, 3, {100, 103}, cpu_ns);
  const auto counters = turns.Counters();
  EXPECT_EQ(counters.at("duet_calls"), 6 * kTurn);
  EXPECT_EQ(counters.at("duet_a_cpu_ns"), 6 * kTurn * 100);
  EXPECT_EQ(counters.at("duet_b_cpu_ns"), 6 * kTurn * 103);
}

TEST(Turns, CountNoPartOfAGroup) {
  uint64_t cpu_ns = 0;
  Turns turns([&cpu_ns] { return cpu_ns; });
  for (uint64_t call = 0; call < Turns::kTurns * kTurn; ++call) {
    turns.Next();
    cpu_ns += 5;
    ASSERT_EQ(turns.Counters().at("duet_calls"), 0);
  }
  for (uint64_t call = 0; call < 2 * kTurn; ++call) {
    turns.Next();
    cpu_ns += 1'000'000;
  }
  EXPECT_EQ(turns.Counters().at("duet_calls"), 2 * kTurn);
  EXPECT_EQ(turns.Counters().at("duet_a_cpu_ns"), 2 * kTurn * 5);
  EXPECT_EQ(turns.Counters().at("duet_b_cpu_ns"), 2 * kTurn * 5);
}

class DuetTest : public testing::Test {
 protected:
  DuetTest() : path_(testing::TempDir() + "duet_test/db") {
    std::filesystem::remove_all(path_.parent_path());
    std::filesystem::create_directories(path_);
  }
  ~DuetTest() override { std::filesystem::remove_all(path_.parent_path()); }

  Options OptionsOf(const std::filesystem::path& path) const {
    Options options = {.path = path,
                       .cache_size = 1 << 20,
                       .compression = false,
                       .durability = Durability::kBuffered};
    return options;
  }

  // Fills a database with one entry.
  void Fill(const std::filesystem::path& path, std::string_view value) {
    std::filesystem::create_directories(path);
    const auto database = kDriver.open(OptionsOf(path));
    const Update update = {"key", value};
    database->NewSession()->Write({&update, 1});
    database->Flush();
    database->Close();
  }

  std::unique_ptr<Database> Open(uint64_t threads = 1) {
    Options options = OptionsOf(path_);
    options.threads = threads;
    return OpenDuet(kDriver.open(options), options, kDriver.open);
  }

  const std::filesystem::path path_;
};

TEST_F(DuetTest, ReadsFromBothCopiesInTurn) {
  Fill(path_, "of a");
  Fill(DuetPath(path_), "of b");
  const auto database = Open();
  const auto session = database->NewSession();
  for (const char* const value : {"of a", "of b", "of b", "of a", "of b"}) {
    for (uint64_t call = 0; call < kTurn; ++call) {
      ASSERT_EQ(session->Get("key"), value);
    }
  }
  session->Scan("", Order::kForward,
                [](std::string_view, std::string_view value) {
                  EXPECT_EQ(value, "of a");
                  return true;
                });
}

TEST_F(DuetTest, AcceptsNoWrite) {
  Fill(path_, "of a");
  Fill(DuetPath(path_), "of b");
  const auto database = Open();
  const Update update = {"key", "other"};
  EXPECT_THROW(database->NewSession()->Write({&update, 1}), std::runtime_error);
  EXPECT_THROW(database->Compact(), Unsupported);
}

TEST_F(DuetTest, NeedsTwoCopiesAndOneThread) {
  Fill(path_, "of a");
  EXPECT_THROW(Open(), std::runtime_error);
  Fill(DuetPath(path_), "of b");
  EXPECT_THROW(Open(2), Unsupported);
}

}  // namespace
}  // namespace kvmatrix
