// What an audit says of databases that lack, keep or invent something.

#include "common/crash/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/crash/history.h"
#include "tests/crash/crash_fixture.h"
#include "tests/runner/wrapped_driver.h"

namespace kvmatrix {
namespace {

using Batch = std::vector<Update>;

// Returns the memory engine, which changes each commit by `change` before it
// stores it, unless nothing is left of it.  Commits count from 1.
Driver Changing(std::function<void(uint64_t commit, Batch& batch)> change) {
  Behaviour behaviour;
  behaviour.write = [change, commit = uint64_t{0}](
                        Session& session,
                        std::span<const Update> batch) mutable {
    Batch changed(batch.begin(), batch.end());
    change(++commit, changed);
    if (!changed.empty()) session.Write(changed);
  };
  Driver driver = Wrapped(behaviour);
  driver.mixes_durability = false;
  return driver;
}

// Returns the memory engine, which answers a get and a scan with what `change`
// makes of each value.
Driver Answering(std::function<void(std::string& value)> change) {
  Behaviour behaviour;
  behaviour.get =
      [change, answer = std::string()](
          Session& session,
          std::string_view key) mutable -> std::optional<std::string_view> {
    const auto value = session.Get(key);
    if (!value) return std::nullopt;
    answer = *value;
    change(answer);
    return answer;
  };
  behaviour.scan = [change](Session& session, std::string_view start,
                            Order order, const Visitor& visit) {
    session.Scan(start, order, [&](std::string_view key, std::string_view v) {
      std::string value(v);
      change(value);
      return visit(key, value);
    });
  };
  return Wrapped(behaviour);
}

class AuditTest : public CrashFixture {
 protected:
  AuditTest() { flags_.phases = "single:40,batch:3"; }

  // Writes with an engine, and audits what it has stored.
  nlohmann::json AuditOf(const Driver& driver) {
    Run(CrashTest::kWrite, driver);
    EXPECT_EQ(exit_status_, 0);
    return Audit();
  }
};

TEST_F(AuditTest, AnHonestEngineIsComplete) {
  const auto answer = AuditOf(Changing([](uint64_t, Batch&) {}));
  EXPECT_EQ(answer["prefix"], 43);
  EXPECT_EQ(answer["lost"], 0);
  EXPECT_EQ(answer["first_problem"], "");
}

TEST_F(AuditTest, ACommitThatIsMissingAmongOthersIsAHole) {
  const auto answer = AuditOf(Changing([](uint64_t commit, Batch& batch) {
    if (commit == 20) batch.clear();
  }));
  EXPECT_EQ(answer["prefix"], nullptr);
  EXPECT_EQ(answer["missing"], 1);
  EXPECT_EQ(answer["torn_batches"], 0);
  EXPECT_EQ(answer["foreign"], 0);
  EXPECT_NE(answer["first_problem"], "");
}

TEST_F(AuditTest, TheNewestCommitsThatAreMissingAreCounted) {
  const auto answer = AuditOf(Changing([](uint64_t commit, Batch& batch) {
    if (commit > 38) batch.clear();
  }));
  EXPECT_EQ(answer["prefix"], 38);
  EXPECT_EQ(answer["lost"], 5);
}

TEST_F(AuditTest, APartOfABatchIsTorn) {
  const auto answer = AuditOf(Changing([](uint64_t commit, Batch& batch) {
    if (commit == 43) batch.resize(50);
  }));
  EXPECT_EQ(answer["prefix"], nullptr);
  EXPECT_EQ(answer["torn_batches"], 1);
}

TEST_F(AuditTest, ABatchThatIsAbsentIsNotTorn) {
  const auto answer = AuditOf(Changing([](uint64_t commit, Batch& batch) {
    if (commit == 43) batch.clear();
  }));
  EXPECT_EQ(answer["prefix"], 42);
  EXPECT_EQ(answer["torn_batches"], 0);
}

TEST_F(AuditTest, DeletedKeysThatComeBackAreCounted) {
  uint64_t ignored = 0;
  const auto answer =
      AuditOf(Changing([&ignored](uint64_t commit, Batch& batch) {
        if (commit <= 40) return;
        ignored += std::erase_if(batch, [](auto& u) { return !u.value; });
      }));
  ASSERT_GT(ignored, 0u);
  EXPECT_EQ(answer["prefix"], nullptr);
  EXPECT_GE(answer["resurrected"], 1);
  EXPECT_LE(answer["resurrected"], ignored);
}

TEST_F(AuditTest, AnAcknowledgementThatTheCutFollowsMustBeThere) {
  Run(CrashTest::kWrite, Changing([](uint64_t commit, Batch& batch) {
        if (commit > 10) batch.clear();
      }));
  for (const TraceRecord& record : ReadTrace(flags_.trace)) {
    if (record.kind != TraceKind::kAcknowledged || record.commit > 12) continue;
    flags_.cut_ns = record.at_ns;
    flags_.cut_end_ns = record.at_ns + 1;
    const auto answer = Run(CrashTest::kAudit).at(0);
    EXPECT_EQ(answer["acknowledged"], record.commit);
    EXPECT_EQ(answer["begun"], record.commit);
    EXPECT_EQ(answer["lost"],
              record.commit - std::min<uint64_t>(record.commit, 10));
    // What had not begun at the cut cannot be there.
    EXPECT_EQ(answer["foreign"] != 0, record.commit < 10) << record.commit;
  }
}

TEST_F(AuditTest, AValueThatWasNeverWrittenIsForeign) {
  Run(CrashTest::kWrite);
  const auto answer = Audit(Answering([](std::string& value) {
    if (value.size() == kCrashValueBytes) value.back() ^= 1;
  }));
  EXPECT_EQ(answer["foreign"], answer["entries"]);
  EXPECT_EQ(answer["prefix"], nullptr);
}

TEST_F(AuditTest, AnEngineThatFailsIsAnAnswer) {
  Run(CrashTest::kWrite);
  Behaviour behaviour;
  behaviour.get = [](Session&, std::string_view) -> std::string_view {
    throw std::runtime_error("no");
  };
  EXPECT_EQ(Audit(Wrapped(behaviour))["read_error"], "no");
  behaviour = {};
  behaviour.write = [](Session&, std::span<const Update>) {
    throw std::runtime_error("no room");
  };
  EXPECT_EQ(Audit(Wrapped(behaviour))["write_error"], "no room");
  behaviour.write = [](Session&, std::span<const Update>) {};
  EXPECT_NE(Audit(Wrapped(behaviour))["write_error"], "");
  EXPECT_EQ(exit_status_, 0);
}

TEST_F(AuditTest, AScanThatDiffersFromGetsIsAnError) {
  Run(CrashTest::kWrite);
  Behaviour behaviour;
  behaviour.scan = [](Session& session, std::string_view start, Order order,
                      const Visitor& visit) {
    bool is_first = true;
    session.Scan(start, order, [&](std::string_view key, std::string_view v) {
      if (is_first) return !(is_first = false);
      return visit(key, v);
    });
  };
  const auto answer = Audit(Wrapped(behaviour));
  EXPECT_NE(answer["read_error"].get<std::string>().find("a scan finds"),
            std::string::npos);
}

// A durable write is there, and a buffered one before it is lost.
TEST_F(AuditTest, ADurableWriteThatDoesNotCoverEarlierOnesIsFound) {
  class Session final : public ForwardingSession {
   public:
    Session(std::unique_ptr<kvmatrix::Session> inner, bool forgets)
        : ForwardingSession(std::move(inner)), forgets_(forgets) {}
    void SetDurable(bool durable) override { durable_ = durable; }
    void Write(std::span<const Update> batch) override {
      if (durable_ || !forgets_) inner().Write(batch);
    }

   private:
    const bool forgets_;
    bool durable_ = false;
  };
  static bool forgets;
  class Database final : public internal::WrappedDatabase {
   public:
    using WrappedDatabase::WrappedDatabase;
    std::unique_ptr<kvmatrix::Session> NewSession() override {
      return std::make_unique<Session>(WrappedDatabase::NewSession(), forgets);
    }
  };
  config_.durability = Durability::kBuffered;
  flags_.phases = "single:3,cover:1";
  internal::current = {};
  Driver driver = kDriver;
  driver.open =
      [](const Options& options) -> std::unique_ptr<kvmatrix::Database> {
    return std::make_unique<Database>(kDriver.open(options));
  };
  for (const bool loses : {false, true}) {
    forgets = loses;
    std::filesystem::remove_all(config_.db);
    std::filesystem::create_directory(config_.db);
    const auto answer = AuditOf(driver);
    EXPECT_EQ(answer["covered"], !loses);
  }
}

// That the key of a durable write is absent may mean that a later commit has
// deleted it, but not in a state from before either.
TEST_F(AuditTest, ADurableWriteThatIsLostCoversNothing) {
  config_.seed = 1;
  config_.durability = Durability::kBuffered;
  flags_.phases = "single:20,cover:1,single:4000";
  Run(CrashTest::kWrite);
  History history(config_.seed);
  uint64_t covering = 0;
  for (const TraceRecord& record : ReadTrace(flags_.trace)) {
    if (record.kind != TraceKind::kAcknowledged) continue;
    history.Add(record.updates, record.value_bytes);
    if (record.durable) covering = record.commit;
  }
  // Or this tests nothing: a later commit deletes the key of that write.
  ASSERT_TRUE(std::any_of(history.versions().begin(), history.versions().end(),
                          [&](const auto& entry) {
                            const auto& [key, versions] = entry;
                            const Version* put = history.At(key, covering);
                            return put != nullptr && put->commit == covering &&
                                   history.Newest(key, {}) > covering;
                          }));
  std::filesystem::resize_file(Log(), 900);
  const auto answer = Audit();
  EXPECT_LT(answer["prefix"], 20);
  EXPECT_EQ(answer["covered"], nullptr);
  EXPECT_EQ(answer["covering_lost"], true);
}

TEST_F(AuditTest, ADurableWriteAmongWeakerOnesIsThere) {
  config_.durability = Durability::kBuffered;
  flags_.phases = "single:3,cover:1";
  EXPECT_EQ(AuditOf(kDriver)["covering_lost"], false);
}

// A commit that another thread had read and that was not acknowledged.
TEST_F(AuditTest, AReadOfACommitThatIsLostIsDirty) {
  flags_.phases = "single:8";
  Run(CrashTest::kWrite);
  uint64_t begun_ns = 0, acknowledged_ns = 0;
  for (const TraceRecord& record : ReadTrace(flags_.trace)) {
    if (record.commit != 8) continue;
    if (record.kind == TraceKind::kCommitBegins) begun_ns = record.at_ns;
    if (record.kind == TraceKind::kAcknowledged) acknowledged_ns = record.at_ns;
  }
  const TraceRecord seen = {
      .at_ns = begun_ns + 1, .commit = 8, .kind = TraceKind::kSeen};
  std::ofstream(flags_.trace, std::ios::app | std::ios::binary)
      .write(reinterpret_cast<const char*>(&seen), sizeof(seen));
  ASSERT_GT(acknowledged_ns, seen.at_ns);
  flags_.cut_end_ns = acknowledged_ns;
  const std::filesystem::path log = folder_ / "log";
  std::filesystem::copy(Log(), log);
  EXPECT_EQ(Audit()["dirty_reads"], 0);
  std::filesystem::copy_file(log, Log(),
                             std::filesystem::copy_options::overwrite_existing);
  Shorten(1);
  flags_.cut_ns = begun_ns;  // before it was read
  EXPECT_EQ(Run(CrashTest::kAudit).at(0)["dirty_reads"], 0);
  const auto answer = Audit();
  EXPECT_EQ(answer["prefix"], 7);
  EXPECT_EQ(answer["lost"], 0);
  EXPECT_EQ(answer["dirty_reads"], 1);
}

}  // namespace
}  // namespace kvmatrix
