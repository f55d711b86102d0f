#include "common/oracle/write_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace kvmatrix {
namespace {

constexpr uint64_t kKeys = 1000;
constexpr uint64_t kThreads = 8;

const Benchmark& Named(std::string_view name) { return *FindBenchmark(name); }

// The versions after the first `steps` steps, by a std::map.
class Model {
 public:
  void Apply(Step step, uint32_t* put_version = nullptr) {
    if (step.version == 0) {
      present_.erase(step.key);
      return;
    }
    const uint32_t version = ++puts_[step.key];
    present_[step.key] = version;
    if (put_version != nullptr) *put_version = version;
  }
  void ExpectEqual(const Oracle& oracle) const {
    for (uint64_t key = 0; key < kKeys + 5; ++key) {
      const auto it = present_.find(key);
      ASSERT_EQ(oracle.Version(key), it == present_.end() ? 0 : it->second)
          << key;
    }
  }

 private:
  std::map<uint64_t, uint32_t> puts_;
  std::map<uint64_t, uint32_t> present_;
};

// For one thread, in the benchmark's own order.
void Finish(std::string_view name, uint64_t steps, Oracle& oracle) {
  WriteStream::Finish(Named(name), Named(name).key_order, 7, {&steps, 1},
                      oracle);
}
void Replay(std::string_view name, uint64_t steps, Oracle& oracle) {
  WriteStream::Replay(Named(name), Named(name).key_order, 7, {&steps, 1},
                      oracle);
}

class WriteStreams : public testing::TestWithParam<
                         std::tuple<std::string, std::string, uint64_t>> {};

TEST_P(WriteStreams, RecordWhatTheyReturn) {
  const auto [first, second, steps] = GetParam();
  Oracle oracle;
  oracle.Reset(kKeys, 100);
  Model model;
  for (const std::string& name : {first, second}) {
    WriteStream stream(Named(name), 7, oracle);
    for (uint64_t i = 0; i < steps; ++i) {
      const Step step = stream.Next();
      uint32_t version = 0;
      model.Apply(step, &version);
      ASSERT_EQ(step.version, version);
    }
    Finish(name, steps, oracle);
    model.ExpectEqual(oracle);
  }
}

TEST_P(WriteStreams, ReplayEqualsTheRun) {
  const auto [first, second, steps] = GetParam();
  Oracle run, replayed;
  run.Reset(kKeys, 100);
  replayed.Reset(kKeys, 100);
  for (const std::string& name : {first, second}) {
    WriteStream stream(Named(name), 7, run);
    for (uint64_t i = 0; i < steps; ++i) stream.Next();
    Finish(name, steps, run);
    Replay(name, steps, replayed);
  }
  for (uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_EQ(run.Version(key), replayed.Version(key)) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WriteStreams,
    testing::Combine(
        testing::Values("fillseq", "fillrandom", "filluniquerandom"),
        testing::Values("overwrite", "deleteseq", "deleterandom"),
        testing::Values(uint64_t{0}, uint64_t{1}, uint64_t{400}, kKeys)));

// In every key order, the record equals that of a model.
TEST(WriteStream, RecordsKeysOfEveryDistribution) {
  for (const KeyOrder order :
       {KeyOrder::kUniform, KeyOrder::kUnique, KeyOrder::kSequential,
        KeyOrder::kHot, KeyOrder::kZipf, KeyOrder::kYcsbZipf,
        KeyOrder::kLatest}) {
    for (const uint64_t steps : {uint64_t{300}, kKeys}) {
      Oracle run, replayed;
      run.Reset(kKeys, 100);
      replayed.Reset(kKeys, 100);
      Model model;
      for (const std::string name : {"fillrandom", "overwrite"}) {
        WriteStream stream(Named(name), {order, 0.99, 3}, 7, run);
        for (uint64_t i = 0; i < steps; ++i) model.Apply(stream.Next());
        const KeyDraw draw(order, 0.99, 3);
        WriteStream::Finish(Named(name), draw, 7, {&steps, 1}, run);
        WriteStream::Replay(Named(name), draw, 7, {&steps, 1}, replayed);
      }
      model.ExpectEqual(run);
      model.ExpectEqual(replayed);
    }
  }
}

TEST(Oracle, NeedsNoTableForAFullDatabase) {
  Oracle oracle;
  oracle.Reset(1'000'000'000'000, 100);
  Replay("filluniquerandom", 1'000'000'000'000, oracle);
  EXPECT_EQ(oracle.Version(999'999'999'999), 1u);
  EXPECT_EQ(oracle.Version(1'000'000'000'000), 0u);
}

TEST(Oracle, FindsNeighboursAmongDeletedKeys) {
  constexpr uint64_t kMany = 300'000;
  // The first keys of a word of blocks, and of a word of groups (oracle.h).
  const std::set<uint64_t> firsts = {33 * 64 * 64, 64 * 64 * 64};
  Oracle plain, skipping;
  for (Oracle* oracle : {&plain, &skipping}) {
    oracle->ResetToPrefix(kMany, 100, kMany);
    oracle->UseTable();
    for (uint64_t key = 0; key < kMany; ++key) {
      const bool is_far = key > 5'000 && key < 200'000 && key % 20'011 < 3;
      const bool stays = key < 100 || is_far || firsts.contains(key);
      if (!stays) oracle->Delete(key);
    }
  }
  skipping.SkipDeleted();
  const auto expect_equal = [&] {
    uint64_t next = kMany;
    ASSERT_EQ(skipping.NextPresent(kMany), next);
    for (uint64_t key = kMany; key-- > 0;) {
      if (plain.Version(key) != 0) next = key;
      ASSERT_EQ(skipping.NextPresent(key), next) << key;
    }
  };
  expect_equal();
  for (Oracle* oracle : {&plain, &skipping}) {
    oracle->Put(123'456);
    ASSERT_TRUE(oracle->TryClaim(234'567));
    oracle->Publish(234'567, 2, false);
    oracle->Restore(299'999, 7);
    oracle->Delete(50);
  }
  expect_equal();
  skipping.ResetToPrefix(kMany, 100, 5);
  EXPECT_EQ(skipping.NextPresent(4), 4u);
  EXPECT_EQ(skipping.NextPresent(5), kMany);
}

// Compares with the time that reading the whole table once takes.
TEST(Oracle, FindsTheNextKeyBehindManyDeletedOnes) {
  using std::chrono::steady_clock;
  constexpr uint64_t kMany = 1 << 22;
  Oracle oracle;
  oracle.ResetToPrefix(kMany, 100, kMany);
  oracle.UseTable();
  for (uint64_t key = 0; key + 1 < kMany; ++key) oracle.Delete(key);
  oracle.SkipDeleted();
  const auto start = steady_clock::now();
  EXPECT_EQ(oracle.Entries(), 1u);
  const auto once = steady_clock::now() - start;
  for (uint64_t key = 0; key < 1'000; ++key) {
    ASSERT_EQ(oracle.NextPresent(key), kMany - 1);
  }
  EXPECT_LT(steady_clock::now() - start, 100 * once);
}

// Keys are added while others are read: what was known stays, and scans find
// the new ones.
TEST(Oracle, GrowsInPlace) {
  Oracle oracle;
  oracle.ResetToPrefix(100, 10, 50);
  oracle.LetGrow();
  oracle.SkipDeleted();
  uint64_t keys = 100;
  EXPECT_EQ(oracle.NextPresent(50), keys);
  for (int doublings = 0; doublings < 14; ++doublings) {
    const uint64_t key = keys + keys / 2;
    EXPECT_EQ(oracle.Observe(key).version, 0u);
    oracle.Grow(keys *= 2);
    oracle.Grow(keys / 2);
    EXPECT_EQ(oracle.key_space(), keys);
    EXPECT_EQ(oracle.NextPresent(key), keys);
    EXPECT_EQ(oracle.Put(key), 1u);
    EXPECT_EQ(oracle.NextPresent(keys / 2), key);
    EXPECT_EQ(oracle.NextPresent(key + 1), keys);
    EXPECT_EQ(oracle.PreviousPresent(keys), key);
  }
  EXPECT_EQ(oracle.Entries(), 50u + 14u);
  EXPECT_EQ(oracle.Version(49), 1u);
  EXPECT_THROW(oracle.Grow(uint64_t{1} << 60), std::runtime_error);
}

TEST(Oracle, FindsNeighbours) {
  Oracle oracle;
  oracle.Reset(kKeys, 100);
  EXPECT_TRUE(oracle.Empty());
  EXPECT_EQ(oracle.NextPresent(0), kKeys);
  EXPECT_EQ(oracle.PreviousPresent(kKeys), kKeys);
  oracle.UseTable();
  oracle.Put(10);
  oracle.Put(20);
  EXPECT_FALSE(oracle.Empty());
  EXPECT_EQ(oracle.NextPresent(0), 10u);
  EXPECT_EQ(oracle.NextPresent(10), 10u);
  EXPECT_EQ(oracle.NextPresent(11), 20u);
  EXPECT_EQ(oracle.NextPresent(21), kKeys);
  EXPECT_EQ(oracle.PreviousPresent(kKeys), 20u);
  EXPECT_EQ(oracle.PreviousPresent(20), 10u);
  EXPECT_EQ(oracle.PreviousPresent(10), kKeys);
  oracle.ResetToPrefix(kKeys, 100, 5);
  EXPECT_EQ(oracle.NextPresent(4), 4u);
  EXPECT_EQ(oracle.NextPresent(5), kKeys);
  EXPECT_EQ(oracle.PreviousPresent(kKeys), 4u);
}

TEST(Oracle, ADeletedKeyComesBackWithANewVersion) {
  Oracle oracle;
  oracle.Reset(kKeys, 100);
  oracle.UseTable();
  EXPECT_EQ(oracle.Put(3), 1u);
  oracle.Delete(3);
  EXPECT_EQ(oracle.Version(3), 0u);
  EXPECT_EQ(oracle.Put(3), 2u);
}

TEST(Oracle, SumCountsPresentEntriesOnce) {
  const Values values(301, 100, 0.5);
  Oracle oracle;
  oracle.Reset(kKeys, 100);
  oracle.UseTable();
  EXPECT_EQ(oracle.Sum(values).entries, 0u);
  oracle.Put(3);
  oracle.Put(3);
  oracle.Put(4);
  oracle.Delete(4);
  EXPECT_EQ(oracle.Sum(values).entries, 1u);
  EXPECT_EQ(oracle.Sum(values).digest, values.Fingerprint(3, 2));
}

// What a read may return before, during and after a write on another thread.
TEST(Oracle, KnowsWhichWritesAreUnderWay) {
  Oracle oracle;
  oracle.ResetToPrefix(10, 100, 5);
  oracle.UseTable();
  const auto observe = [&](uint64_t key) {
    const Oracle::Observed observed = oracle.Observe(key);
    return std::pair(observed.version, observed.newest);
  };
  using Seen = std::pair<uint32_t, uint32_t>;
  for (const uint32_t before : {1, 0}) {
    const uint64_t key = before == 1 ? 3 : 7;
    EXPECT_EQ(observe(key), Seen(before, before));
    EXPECT_EQ(oracle.TryClaim(key), before + 1);
    EXPECT_EQ(observe(key), Seen(before, before + 1));
    EXPECT_EQ(oracle.Version(key), before);
    oracle.Publish(key, before + 1, false);
    EXPECT_EQ(observe(key), Seen(before + 1, before + 1));
    EXPECT_EQ(oracle.TryClaim(key), before + 2);
    oracle.Publish(key, before + 1, true);
    EXPECT_EQ(observe(key), Seen(0, 0));
    EXPECT_EQ(oracle.TryClaim(key), before + 2);
    EXPECT_EQ(observe(key), Seen(0, before + 2));
    oracle.Publish(key, before + 2, false);
  }
}

TEST(Oracle, LetsOneThreadAtATimeClaimAKey) {
  Oracle oracle;
  oracle.ResetToPrefix(10, 100, 5);
  oracle.UseTable();
  EXPECT_EQ(oracle.TryClaim(3), 2u);
  EXPECT_EQ(oracle.TryClaim(3), std::nullopt);
  EXPECT_EQ(oracle.TryClaim(4), 2u);
  std::thread other([&] {
    oracle.AwaitRelease(3);
    EXPECT_EQ(oracle.Observe(3).version, 2u);
  });
  oracle.Publish(3, 2, false);
  other.join();
  EXPECT_EQ(oracle.TryClaim(3), 3u);
}

// Two threads that draw the same numbers never write the same key, each stays
// near its draw, and together they write every key.
TEST(WriteStream, ThreadsWriteKeysOfTheirOwn) {
  for (const uint64_t key_space : {kThreads, kThreads + 1, kKeys - 1}) {
    Oracle oracle;
    oracle.Reset(key_space, 100);
    oracle.UseTable();
    std::set<uint64_t> written;
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      const ThreadShare share{thread, kThreads};
      WriteStream stream(Named("fillrandom"), KeyOrder::kUniform, 7, oracle,
                         share);
      KeyStream drawn(KeyOrder::kUniform, key_space, 7, share);
      for (int i = 0; i < 20'000; ++i) {
        const uint64_t key = stream.Next().key;
        const uint64_t draw = drawn.Next();
        ASSERT_EQ(key % kThreads, thread);
        ASSERT_LT(key, key_space);
        ASSERT_LT(std::max(key, draw) - std::min(key, draw), kThreads);
        written.insert(key);
      }
    }
    EXPECT_EQ(written.size(), key_space);
  }
}

}  // namespace
}  // namespace kvmatrix
