// Engines that lie in one way each; every lie must make a measurement wrong.

#include <gtest/gtest.h>

#include "tests/runner_fixture.h"

namespace kvmatrix {
namespace {

class LiesTest : public RunnerFixture {
 protected:
  void ExpectCaught(Behaviour lie, std::string_view benchmark) {
    const std::vector<std::string_view> names = {"filluniquerandom",
                                                 "overwrite", benchmark};
    const auto honest = Run(Wrapped({}), names);
    EXPECT_EQ(honest.back().status, Status::kOk) << honest.back().reason;
    const auto lying = Run(Wrapped(std::move(lie)), names);
    EXPECT_EQ(lying.back().status, Status::kWrong) << benchmark;
    EXPECT_FALSE(lying.back().reason.empty());
  }

  // A get that changes one answer in a hundred.
  template <typename Change>
  Behaviour ChangedGets(Change change) {
    Behaviour lie;
    lie.get = [this, change](
                  Session& session,
                  std::string_view key) -> std::optional<std::string_view> {
      const auto value = session.Get(key);
      if (!value || ++calls_ % 100 != 0) return value;
      kept_ = *value;
      return change(kept_);
    };
    return lie;
  }

  uint64_t calls_ = 0;
  std::string kept_;
  std::string last_;
};

TEST_F(LiesTest, DroppedWrites) {
  for (const char* benchmark : {"verify", "readrandom", "readseq"}) {
    Behaviour lie;
    calls_ = 0;
    lie.write = [this](Session& session, std::span<const Update> batch) {
      // The last one, which no later write makes good.
      if (++calls_ != 2 * config_.num) session.Write(batch);
    };
    config_.reads = 20'000;
    ExpectCaught(lie, benchmark);
  }
}

TEST_F(LiesTest, StaleValues) {
  Behaviour lie;
  lie.write = [this](Session& session, std::span<const Update> batch) {
    // Only the first writes of keys arrive.
    if (++calls_ <= config_.num) session.Write(batch);
  };
  ExpectCaught(lie, "verify");
}

TEST_F(LiesTest, AFlippedBit) {
  ExpectCaught(ChangedGets([](std::string& value) {
                 value.back() = static_cast<char>(value.back() ^ 1);
                 return std::optional<std::string_view>(value);
               }),
               "readrandom");
}

TEST_F(LiesTest, ATruncatedValue) {
  ExpectCaught(ChangedGets([](std::string& value) {
                 value.pop_back();
                 return std::optional<std::string_view>(value);
               }),
               "readrandom");
}

TEST_F(LiesTest, TheValueOfTheGetBefore) {
  Behaviour lie;
  lie.get = [this](Session& session, std::string_view key) {
    const std::string before = kept_;
    kept_ = session.Get(key).value_or("");
    calls_ = before.empty() ? 0 : calls_ + 1;
    last_ = before;
    return calls_ % 100 == 99 ? std::optional<std::string_view>(last_)
                              : session.Get(key);
  };
  ExpectCaught(lie, "readrandom");
}

TEST_F(LiesTest, AValueForAMissingKey) {
  Behaviour lie;
  lie.get = [](Session& session, std::string_view key) {
    const auto value = session.Get(key);
    return value ? value : std::optional<std::string_view>("made up");
  };
  ExpectCaught(lie, "readmissing");
  ExpectCaught(lie, "verify");
}

TEST_F(LiesTest, DeletesThatDoNothing) {
  Behaviour lie;
  lie.write = [](Session& session, std::span<const Update> batch) {
    if (batch.front().value) session.Write(batch);
  };
  const auto m =
      Run(Wrapped(lie), {"filluniquerandom", "deleterandom", "verify"});
  EXPECT_EQ(m.back().status, Status::kWrong);
}

TEST_F(LiesTest, AScanThatSkipsAnEntry) {
  for (const char* benchmark : {"readseq", "readreverse", "verify"}) {
    Behaviour lie;
    lie.scan = [](Session& session, std::string_view start, Order order,
                  const Visitor& visit) {
      int visited = 0;
      session.Scan(start, order, [&](auto key, auto value) {
        return ++visited == 100 || visit(key, value);
      });
    };
    ExpectCaught(lie, benchmark);
  }
}

TEST_F(LiesTest, AScanThatStopsEarly) {
  Behaviour lie;
  lie.scan = [](Session& session, std::string_view start, Order order,
                const Visitor& visit) {
    int visited = 0;
    session.Scan(start, order, [&](auto key, auto value) {
      return visit(key, value) && ++visited < 499;
    });
  };
  ExpectCaught(lie, "readseq");
  ExpectCaught(lie, "verify");
}

TEST_F(LiesTest, AScanThatVisitsAnEntryTwice) {
  for (const bool ordered : {true, false}) {
    Behaviour lie;
    lie.scan = [](Session& session, std::string_view start, Order order,
                  const Visitor& visit) {
      int visited = 0;
      std::string key_before, value_before;
      // The second entry is replaced by a copy of the first.
      session.Scan(start, order, [&](auto key, auto value) {
        if (++visited == 2) return visit(key_before, value_before);
        key_before = key;
        value_before = value;
        return visit(key, value);
      });
    };
    const auto m = Run(Wrapped(lie, ordered), {"fillseq", "verify"});
    EXPECT_EQ(m.back().status, Status::kWrong) << ordered;
  }
}

TEST_F(LiesTest, AScanOutOfOrder) {
  Behaviour lie;
  lie.scan = [](Session& session, std::string_view start, Order,
                const Visitor& visit) {
    session.Scan(start, Order::kBackward, visit);
  };
  ExpectCaught(lie, "readseq");
}

TEST_F(LiesTest, ASeekToTheNeighbour) {
  Behaviour lie;
  lie.scan = [](Session& session, std::string_view start, Order order,
                const Visitor& visit) {
    int visited = 0;
    session.Scan(start, order, [&](auto key, auto value) {
      return ++visited == 1 || visit(key, value);
    });
  };
  ExpectCaught(lie, "seekrandom");
}

TEST_F(LiesTest, EntriesThatNobodyWrote) {
  Behaviour lie;
  lie.scan = [](Session& session, std::string_view start, Order order,
                const Visitor& visit) {
    session.Scan(start, order, visit);
    visit("intruder", "value");
  };
  ExpectCaught(lie, "verify");
}

TEST_F(LiesTest, NothingAtAll) {
  Behaviour lie;
  lie.write = [](Session&, std::span<const Update>) {};
  ExpectCaught(lie, "verify");
  ExpectCaught(lie, "readrandom");
}

}  // namespace
}  // namespace kvmatrix
