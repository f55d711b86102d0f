// Every byte that a scan or a seek visits is compared.

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
