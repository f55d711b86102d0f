// How long the runner keeps a database open, recorded by a driver.

#include <algorithm>
#include <functional>
#include <string>

#include "common/stream/leveldb_stream.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

class ReplayOpenTest : public RunnerFixture {
 protected:
  ReplayOpenTest() {
    config_.stream = StreamKind::kDbBench;
    config_.settle = false;
  }

  // Records each event as a letter, and that it took some time.
  Behaviour Noting() {
    const auto note = [this](char letter, uint64_t ns) {
      return [this, letter, ns] {
        events_ += letter;
        clock_.now_ns += ns;
      };
    };
    Behaviour behaviour;
    behaviour.open = note('o', 1'000);
    behaviour.close = note('c', 70);
    behaviour.settle = note('s', 0);
    behaviour.compact = note('k', 0);
    behaviour.get = [this](Session& session, std::string_view key) {
      clock_.now_ns += 3;
      if (events_.back() != 'g') events_ += 'g';
      return session.Get(key);
    };
    behaviour.write = [this](Session& session, std::span<const Update> batch) {
      if (events_.back() != 'w') events_ += 'w';
      session.Write(batch);
    };
    return behaviour;
  }

  std::string Events(const std::vector<std::string_view>& names) {
    events_.clear();
    last_ = Run(Wrapped(Noting()), names);
    for (const Measurement& m : last_) {
      EXPECT_EQ(m.status, Status::kOk) << m.benchmark->name << m.reason;
    }
    return events_;
  }

  std::string events_;
  std::vector<Measurement> last_;
};

TEST_F(ReplayOpenTest, OnlyAFillReopensTheDatabase) {
  EXPECT_EQ(Events({"fillseq", "fillrandom", "overwrite", "readrandom",
                    "compact", "readrandom", "fill100K"}),
            "owc"
            "owgkgc"
            "owc");
}

TEST_F(ReplayOpenTest, TheOwnStreamReopensForEachBenchmarkAndSettles) {
  config_.stream = StreamKind::kOwn;
  config_.settle = true;
  EXPECT_EQ(Events({"fillrandom", "overwrite", "readrandom", "readrandom"}),
            "owscowscogcogc");
}

TEST_F(ReplayOpenTest, SettlesOnlyIfRequested) {
  config_.settle = true;
  EXPECT_EQ(Events({"fillrandom", "readrandom"}), "owsgc");
}

TEST_F(ReplayOpenTest, OpeningAndClosingCountForTheBenchmarkThatDidThem) {
  Events({"fillrandom", "overwrite", "readrandom", "fillseq"});
  const auto times = [this](auto time_of) {
    std::vector<uint64_t> all;
    for (const Measurement& m : last_) all.push_back(std::invoke(time_of, m));
    return all;
  };
  EXPECT_EQ(times(&Measurement::open_ns),
            (std::vector<uint64_t>{1'000, 0, 0, 1'000}));
  EXPECT_EQ(times(&Measurement::close_ns),
            (std::vector<uint64_t>{0, 0, 70, 70}));
  EXPECT_EQ(times([](const Measurement& m) { return m.run.loop.loop_ns; }),
            (std::vector<uint64_t>{0, 0, 500 * 3, 0}));
  for (const Measurement& m : last_) EXPECT_FALSE(m.settings.empty());
}

// Durable writes are requested by a field of Options.
TEST_F(ReplayOpenTest, OtherOptionsReopenTheDatabase) {
  config_.stream = StreamKind::kDbBenchOneSeed;
  EXPECT_EQ(Events({"fillseq", "readrandom"}), "owgc");
  const Driver driver = Wrapped(Noting());
  Runner runner(driver, config_, clock_);
  Benchmark durable = *FindBenchmark("overwrite");
  durable.sync = true;
  const Benchmark& fill = *FindBenchmark("fillseq");
  const Benchmark& read = *FindBenchmark("readrandom");
  events_.clear();
  runner.Run(fill, &durable);
  runner.Run(durable, &durable);
  runner.Run(durable, &read);
  runner.Run(read);
  EXPECT_EQ(events_, "owcowcogc");
}

TEST_F(ReplayOpenTest, AFailureClosesTheDatabaseForTheNextBenchmark) {
  Behaviour behaviour = Noting();
  behaviour.compact = [] { throw std::runtime_error("no space"); };
  const auto m =
      Run(Wrapped(behaviour), {"fillrandom", "compact", "readrandom"});
  EXPECT_EQ(m[1].status, Status::kError);
  EXPECT_EQ(m[2].status, Status::kOk) << m[2].reason;
  EXPECT_EQ(events_, "owcogc");
}

TEST_F(ReplayOpenTest, AnUnsupportedBenchmarkLeavesItOpen) {
  Behaviour behaviour = Noting();
  behaviour.compact = [] { throw Unsupported("no such call"); };
  const std::vector<std::string_view> names = {"fillrandom", "compact",
                                               "readrandom"};
  EXPECT_EQ(Run(Wrapped(behaviour), names)[1].status, Status::kUnsupported);
  EXPECT_EQ(events_, "owgc");
  events_.clear();
  Run(Wrapped(behaviour), {"fillrandom", "compact", "fillseq"});
  EXPECT_EQ(events_, "owcowc");
}

// Counts from before a benchmark belong to the previous one.
TEST_F(ReplayOpenTest, CountersCoverOneBenchmark) {
  Driver driver = Wrapped(Noting());
  driver.open = [](const Options& options) -> std::unique_ptr<Database> {
    class Counting final : public internal::WrappedDatabase {
     public:
      using WrappedDatabase::WrappedDatabase;
      void Flush() override { ++flushes_; }
      std::map<std::string, uint64_t> Counters() override {
        return {{"flushes", flushes_}};
      }

     private:
      uint64_t flushes_ = 0;
    };
    return std::make_unique<Counting>(kDriver.open(options));
  };
  const auto m = Run(driver, {"fillrandom", "overwrite", "readrandom"});
  EXPECT_EQ(m[0].counters.at("flushes"), 1u);
  EXPECT_EQ(m[1].counters.at("flushes"), 1u);
  EXPECT_EQ(m[2].counters.at("flushes"), 0u);
}

// Values are windows of one pool: right bytes, but of another put.
TEST_F(ReplayOpenTest, AValueOfAnotherPutIsDetected) {
  Behaviour behaviour;
  behaviour.get = [](Session& session, std::string_view) {
    return session.Get("0000000000000007");
  };
  const auto found = Run(Wrapped(behaviour), {"fillseq", "readrandom"});
  EXPECT_EQ(found[0].status, Status::kOk) << found[0].reason;
  EXPECT_EQ(found[1].status, Status::kWrong);
}

}  // namespace
}  // namespace kvmatrix
