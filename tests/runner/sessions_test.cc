// What holds readers back, when sessions end, and what is known about a
// database after a failure.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/runner/runner_fixture.h"
#include "tests/runner/waiting.h"

namespace kvmatrix {
namespace {

class Sessions : public RunnerFixture {
 protected:
  Sessions() { config_.threads = 4; }

  Behaviour::Event Note(const std::string& event) {
    return [this, event] {
      const std::lock_guard lock(mutex_);
      events_ += event + " ";
    };
  }

  std::mutex mutex_;
  std::string events_;
};

TEST_F(Sessions, EndWithTheDatabase) {
  Behaviour behaviour;
  behaviour.flush = Note("flush");
  behaviour.settle = Note("settle");
  behaviour.end = Note("end");
  behaviour.close = Note("close");
  const auto m =
      Run(Wrapped(behaviour), {"fillrandom", "readrandom", "readwhilewriting"});
  for (const Measurement& measurement : m)
    EXPECT_EQ(measurement.status, Status::kOk);
  EXPECT_EQ(events_,
            "flush settle end end end end close "
            "end end end end close "
            "flush settle end end end end end close ");
}

TEST_F(Sessions, EndWithinTheTimeOfTheClose) {
  Behaviour behaviour;
  behaviour.end = [this] { clock_.now_ns += 1'000; };
  const auto m = Run(Wrapped(behaviour), {"fillrandom", "readrandom"});
  for (const Measurement& measurement : m) {
    EXPECT_EQ(measurement.close_ns, 4'000u);
    EXPECT_EQ(measurement.run.loop.loop_ns + measurement.flush_ns, 0u);
  }
}

TEST_F(Sessions, OfReadersStartAfterTheFirstWrite) {
  std::atomic<uint64_t> writes = 0;
  std::atomic<bool> early = false;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    // By then the readers are waiting, or have arrived too early.
    if (writes == config_.num) AwaitOthersAsleep();
    session.Write(batch);
    ++writes;
  };
  behaviour.get = [&](Session& session, std::string_view key) {
    if (writes <= config_.num) early = true;
    return session.Get(key);
  };
  config_.reads = 1;
  const Measurement m =
      Run(Wrapped(behaviour), {"filluniquerandom", "readwhilewriting"})[1];
  ASSERT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_FALSE(early);
  EXPECT_GE(m.run.writer->loop.operations, 1u);
}

// An engine whose deletes do nothing.
Behaviour KeepsWhatIsDeleted() {
  Behaviour behaviour;
  behaviour.write = [](Session& session, std::span<const Update> batch) {
    for (const Update& update : batch) {
      if (update.value) session.Write({&update, 1});
    }
  };
  return behaviour;
}

// A writer that continued would put all of the keys again.
TEST_F(Sessions, DetectALostDeleteDuringWrites) {
  config_.num = 2'000;
  config_.writes_per_second = 1;
  clock_.skips_waits = false;
  for (const bool lies : {false, true}) {
    const Measurement m =
        Run(Wrapped(lies ? KeepsWhatIsDeleted() : Behaviour()),
            {"filluniquerandom", "deleterandom", "seekrandomwhilewriting"})[2];
    EXPECT_EQ(m.status, lies ? Status::kWrong : Status::kOk) << m.reason;
    if (!lies) continue;
    EXPECT_NE(m.reason.find("a key that must be absent is found"),
              std::string::npos)
        << m.reason;
  }
}

// The contents of the database are unknown after such a failure.
TEST_F(Sessions, LeaveNoResultAfterAFailedWrite) {
  for (const uint64_t threads : {1, 2}) {
    for (const bool unsupported : {true, false}) {
      config_.threads = threads;
      Behaviour behaviour;
      behaviour.write = [&](Session& session, std::span<const Update> batch) {
        if (batch.size() == 1) return session.Write(batch);
        if (unsupported) throw Unsupported("has no batches");
        throw std::runtime_error("disk full");
      };
      const auto m =
          Run(Wrapped(behaviour),
              {"filluniquerandom", "overwritebatch", "verify", "readrandom",
               "overwrite", "fillrandom", "verify", "fillrandbatch", "verify"});
      const Status broken = unsupported ? Status::kUnsupported : Status::kError;
      EXPECT_EQ(m[1].status, broken);
      for (const size_t after : {2, 3, 4, 8}) {
        EXPECT_EQ(m[after].status, Status::kError);
        EXPECT_NE(m[after].reason.find("are unknown, because"),
                  std::string::npos)
            << m[after].reason;
      }
      EXPECT_EQ(m[5].status, Status::kOk) << m[5].reason;
      EXPECT_EQ(m[6].status, Status::kOk) << m[6].reason;
      EXPECT_EQ(m[7].status, broken);
    }
  }
}

}  // namespace
}  // namespace kvmatrix
