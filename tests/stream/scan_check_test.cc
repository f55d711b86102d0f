// Every byte that a scan or a seek visits is compared.

#include "common/oracle/entry_hash.h"
#include "common/stream/leveldb_stream.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kDamaged = 7;  // the entry, from the first that is visited

class ScanCheckTest : public RunnerFixture {
 protected:
  // Runs the benchmark over a database whose scans change one entry.
  template <typename Damage>  // void(std::string& key, std::string& value)
  Measurement Damaged(std::string_view name, uint64_t entry, Damage damage) {
    Behaviour behaviour;
    behaviour.scan = [=](Session& session, std::string_view start, Order order,
                         const Visitor& visit) {
      uint64_t visited = 0;
      session.Scan(start, order, [&](auto key, auto value) {
        std::string changed_key(key), changed_value(value);
        if (++visited == entry) damage(changed_key, changed_value);
        return visit(changed_key, changed_value);
      });
    };
    return Run(Wrapped(behaviour), {"fillseq", name})[1];
  }

  void ExpectWrong(const Measurement& m, size_t at) {
    EXPECT_EQ(m.status, Status::kWrong) << m.benchmark->name << " byte " << at;
  }
};

TEST_F(ScanCheckTest, EveryEntryCountsOnceAndInItsPlace) {
  using Entries = std::vector<std::pair<std::string, std::string>>;
  const auto status = [&](auto change) {
    Behaviour behaviour;
    behaviour.scan = [=](Session& session, std::string_view start, Order order,
                         const Visitor& visit) {
      Entries entries;
      session.Scan(start, order, [&](auto key, auto value) {
        entries.emplace_back(key, value);
        return true;
      });
      change(entries);
      for (const auto& [key, value] : entries) {
        if (!visit(key, value)) return;
      }
    };
    return Run(Wrapped(behaviour), {"fillrandom", "readseq"})[1].status;
  };
  EXPECT_EQ(status([](Entries&) {}), Status::kOk);
  EXPECT_EQ(status([](Entries& e) { std::swap(e[3], e[4]); }), Status::kWrong);
  EXPECT_EQ(status([](Entries& e) { std::swap(e[3].second, e[8].second); }),
            Status::kWrong);
  EXPECT_EQ(status([](Entries& e) { e[3] = e[4]; }), Status::kWrong);
  EXPECT_EQ(status([](Entries& e) { e.erase(e.begin() + 3); }), Status::kWrong);
  EXPECT_EQ(status([](Entries& e) { e.pop_back(); }), Status::kWrong);
  EXPECT_EQ(status([](Entries& e) { e.emplace_back(e[0]); }), Status::kWrong);
  EXPECT_EQ(status([](Entries& e) { e.clear(); }), Status::kWrong);
}

// A seek reads the entry that it finds and those that follow.
TEST_F(ScanCheckTest, EveryEntryAfterASeekCountsInItsPlace) {
  config_.seek_nexts = 9;
  for (const bool reverse : {false, true}) {
    config_.reverse_iterator = reverse;
    for (const char* name : {"seekrandom", "seekordered"}) {
      const auto damaged = [&](uint64_t entry) {
        const Measurement m =
            Damaged(name, entry, [](auto&, auto& value) { value.back() ^= 1; });
        return m.status;
      };
      EXPECT_EQ(damaged(0), Status::kOk) << name;
      EXPECT_EQ(damaged(1), Status::kWrong) << name;
      EXPECT_EQ(damaged(10), Status::kWrong) << name;
      EXPECT_EQ(damaged(11), Status::kOk) << name << ": not visited";
    }
  }
}

TEST_F(ScanCheckTest, ASeekVisitsAsManyEntriesAsItSays) {
  const auto visited = [&](uint64_t nexts, bool reverse, uint64_t skipped) {
    config_.seek_nexts = nexts;
    config_.reverse_iterator = reverse;
    uint64_t entries = 0;
    Behaviour behaviour;
    behaviour.scan = [&](Session& session, std::string_view start, Order order,
                         const Visitor& visit) {
      uint64_t entry = 0;
      session.Scan(start, order, [&](auto key, auto value) {
        if (++entry == skipped) return true;
        ++entries;
        return visit(key, value);
      });
    };
    const Measurement m =
        Run(Wrapped(behaviour), {"fillseq", "seekordered"})[1];
    EXPECT_EQ(m.status, skipped == 0 ? Status::kOk : Status::kWrong);
    return entries;
  };
  // The seeks at either end of the keys find fewer.
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(visited(0, reverse, 0), 500u);
    const uint64_t eleven = visited(10, reverse, 0);
    EXPECT_LE(eleven, 500u * 11);
    EXPECT_GT(eleven, 500u * 10);
    visited(10, reverse, 1);
    visited(10, reverse, 5);
  }
}

TEST_F(ScanCheckTest, AnEntryThatIsWrongOnlyOnceCounts) {
  bool damaged = false;
  const auto flip = [&damaged](std::string&, std::string& value) {
    if (!damaged) value[0] ^= 1;
    damaged = true;
  };
  const Measurement m = Damaged("readseq", kDamaged, flip);
  EXPECT_EQ(m.status, Status::kWrong);
  EXPECT_FALSE(m.reason.empty());
}

TEST(EntryHash, DependsOnEveryByteAndEverySize) {
  std::set<uint64_t> hashes;
  size_t texts = 0;
  const auto add = [&](std::string_view key, std::string_view value) {
    hashes.insert(EntryHash(key, value));
    EXPECT_EQ(EntryHash(key, value), EntryHashBy<CrcByTable>(key, value));
    ++texts;
  };
  const std::string bytes(2000, 'x');
  for (size_t size = 0; size <= bytes.size(); ++size) {
    add(bytes.substr(0, 16), bytes.substr(0, size));
    if (size <= 64 && size != 16) add(bytes.substr(0, size), bytes.substr(16));
    if (size == bytes.size()) continue;
    std::string changed = bytes;
    changed[size] = 'y';
    add(bytes.substr(0, 16), changed);
    add(changed, bytes.substr(0, 16));
  }
  EXPECT_EQ(hashes.size(), texts);
}

TEST_F(ScanCheckTest, EveryByteOfAKeyCounts) {
  for (const uint64_t size : {8, 16, 24}) {
    config_.key_size = size;
    EXPECT_EQ(Damaged("readseq", 0, [](auto&, auto&) {}).status, Status::kOk);
    for (size_t at = 0; at < size; ++at) {
      const auto flip = [at](std::string& key, std::string&) { key[at] ^= 1; };
      ExpectWrong(Damaged("readseq", kDamaged, flip), at);
      ExpectWrong(Damaged("readreverse", kDamaged, flip), at);
    }
    const auto cut = [](std::string& key, std::string&) { key.pop_back(); };
    ExpectWrong(Damaged("readseq", kDamaged, cut), size);
  }
}

TEST_F(ScanCheckTest, EveryByteOfAValueCounts) {
  for (const StreamKind stream : {StreamKind::kOwn, StreamKind::kDbBench}) {
    config_.stream = stream;
    for (size_t at = 0; at < config_.value_size; ++at) {
      const auto flip = [at](std::string&, std::string& value) {
        value[at] ^= 1;
      };
      ExpectWrong(Damaged("readseq", kDamaged, flip), at);
      ExpectWrong(Damaged("seekrandom", 1, flip), at);
    }
    const auto pad = [](std::string&, std::string& value) { value += 'x'; };
    ExpectWrong(Damaged("readseq", kDamaged, pad), config_.value_size);
  }
}

}  // namespace
}  // namespace kvmatrix
