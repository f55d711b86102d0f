// YCSB's workloads: the records that operations refer to, and in which shares.

#include "common/mixes/ycsb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "common/mixes/key_space.h"

namespace kvmatrix {
namespace {

constexpr int kDraws = 200'000;
constexpr KeyDraw kDraw(KeyOrder::kUniform, 0.99, 9);

double Tolerance(double share) {
  return 4 * std::sqrt(share * (1 - share) / kDraws);
}

// The share of draws of each ordinal.
std::vector<double> SharesOf(YcsbChooser chooser, uint64_t records,
                             uint64_t acknowledged) {
  Random random(5);
  std::vector<double> shares(records + 1000);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t ordinal = chooser.Next(random, acknowledged);
    EXPECT_LT(ordinal, acknowledged);
    shares[ordinal] += 1.0 / kDraws;
  }
  return shares;
}

TEST(Ycsb, WorkloadsAreThoseOfItsFiles) {
  struct Line {
    std::string_view name;
    double read, update, insert, scan, readmodifywrite;
  };
  constexpr Line kFiles[] = {
      {"ycsba", 0.5, 0.5, 0, 0, 0},   {"ycsbb", 0.95, 0.05, 0, 0, 0},
      {"ycsbc", 1, 0, 0, 0, 0},       {"ycsbd", 0.95, 0, 0.05, 0, 0},
      {"ycsbe", 0, 0, 0.05, 0.95, 0}, {"ycsbf", 0.5, 0, 0, 0, 0.5},
  };
  for (const Line& line : kFiles) {
    const YcsbWorkload* workload = FindYcsb(line.name);
    ASSERT_NE(workload, nullptr) << line.name;
    const Weights weights = {line.read, line.update, line.insert, line.scan,
                             line.readmodifywrite};
    EXPECT_EQ(workload->weights, weights) << line.name;
    EXPECT_EQ(workload->request == YcsbRequest::kYcsbLatest,
              line.name == "ycsbd");
  }
  EXPECT_EQ(FindYcsb("ycsbload"), nullptr);
}

TEST(Ycsb, ADistributionByNameKeepsTheOperations) {
  const YcsbWorkload& a = *FindYcsb("ycsba");
  const YcsbWorkload& d = *FindYcsb("ycsbd");
  EXPECT_EQ(RequestOf(a, ""), YcsbRequest::kYcsbZipf);
  EXPECT_EQ(RequestOf(a, "zipf"), YcsbRequest::kZipf);
  EXPECT_EQ(RequestOf(a, "latest"), YcsbRequest::kYcsbLatest);
  EXPECT_EQ(RequestOf(d, "zipf"), YcsbRequest::kLatest);
  EXPECT_EQ(RequestOf(d, "ycsb-zipf"), YcsbRequest::kYcsbLatest);
  EXPECT_EQ(RequestOf(d, "uniform"), YcsbRequest::kUniform);
  EXPECT_EQ(RequestOf(a, "hotspot"), YcsbRequest::kHotspot);
  EXPECT_EQ(RequestOf(d, "exponential"), YcsbRequest::kExponential);
  EXPECT_EQ(RequestOf(d, "ycsb-latest"), YcsbRequest::kYcsbLatest);
  EXPECT_EQ(RequestOf(a, "hot"), std::nullopt);
}

TEST(OperationChooser, DrawsInProportion) {
  const Weights weights = {0.2, 0, 0.05, 0.75};
  OperationChooser chooser(weights, 11);
  Weights shares{};
  for (int i = 0; i < kDraws; ++i) {
    shares[static_cast<size_t>(chooser.Next())] += 1.0 / kDraws;
  }
  for (size_t type = 0; type < kOperations; ++type) {
    EXPECT_NEAR(shares[type], weights[type], Tolerance(weights[type]) + 1e-9);
  }
}

TEST(OperationChooser, NeverDrawsATypeWithoutWeight) {
  OperationChooser chooser({1.0 / 3, 0, 1.0 / 3, 0, 0, 1.0 / 3}, 2);
  for (int i = 0; i < kDraws; ++i) {
    const Operation operation = chooser.Next();
    ASSERT_TRUE(operation == Operation::kRead ||
                operation == Operation::kInsert ||
                operation == Operation::kGet);
  }
}

// What is inserted beyond the key space of the load doubles it, and has keys of
// its own; how many operations are planned does not matter.
TEST(RecordOrder, GivesEachRecordAKeyOfItsOwnAtAnySize) {
  Config config;
  config.num = 100;
  for (const char* order : {"hashed", "ordered"}) {
    config.mix.insert_order = order;
    const RecordOrder records(config);
    uint64_t key_space = YcsbKeySpace(config.num);
    EXPECT_EQ(key_space, 264u);
    EXPECT_EQ(records.KeySpaceFor(1), key_space);
    std::set<uint64_t> keys;
    for (uint64_t ordinal = 0; ordinal < 5'000; ++ordinal) {
      if (ordinal == key_space) key_space *= 2;
      EXPECT_EQ(records.KeySpaceFor(ordinal + 1), key_space);
      const uint64_t key = records(ordinal);
      EXPECT_LT(key, key_space);
      EXPECT_EQ(records.Inverse(key), ordinal);
      keys.insert(key);
    }
    EXPECT_EQ(keys.size(), 5'000u);
    EXPECT_EQ(records(7) == 7, config.mix.insert_order == "ordered");
  }
}

TEST(RecordOrder, DoesNotDependOnTheOperations) {
  Config config;
  for (const char* name : {"ycsbload", "ycsba", "ycsbd", "ycsbe", "mix"}) {
    const Benchmark& benchmark = *FindBenchmark(name);
    config.reads = 1;
    const uint64_t few = KeySpaceOf(benchmark, config);
    config.reads = kMaxKeys;
    config.threads = kMaxThreads;
    EXPECT_EQ(KeySpaceOf(benchmark, config), few) << name;
  }
}

// A draw of a record that is not there yet is repeated: at most half of the
// ordinals to draw from are such, however many inserts are planned, and however
// many there have been.
TEST(YcsbChooser, HasAtMostAsManyAbsentRecordsAsPresentOnes) {
  constexpr uint64_t kRecords = 1'000;
  for (const YcsbRequest request :
       {YcsbRequest::kYcsbZipf, YcsbRequest::kZipf}) {
    for (const uint64_t inserts : {uint64_t{0}, uint64_t{50}, kMaxKeys}) {
      YcsbChooser chooser(request, kRecords, inserts, kDraw);
      Random random(5);
      for (uint64_t there = kRecords; there < 100 * kRecords; there += 777) {
        EXPECT_LT(chooser.Next(random, there), there);
        EXPECT_GE(chooser.items(), there);
        EXPECT_LE(chooser.items(), 2 * there + 1);
      }
    }
  }
}

// The law: rank r has the share (1 / r^0.99) / zeta.
TEST(YcsbChooser, OfTrueZipfFollowsTheLawAndScattersIt) {
  constexpr uint64_t kRecords = 1'000;
  std::vector<double> shares = SharesOf(
      YcsbChooser(YcsbRequest::kZipf, kRecords, 0, kDraw), kRecords, kRecords);
  EXPECT_LT(shares[0], 0.05);  // the hottest is no ordinal in particular
  std::ranges::sort(shares, std::greater<>());
  double zeta = 0;
  for (uint64_t r = 1; r <= kRecords; ++r) zeta += std::pow(r, -0.99);
  for (const int rank : {1, 2, 3}) {
    const double share = std::pow(rank, -0.99) / zeta;
    EXPECT_NEAR(shares[rank - 1], share, Tolerance(share)) << rank;
  }
}

// YCSB's variant: the first of 10^10 items has 1 / 26.469 of the draws for any
// number of records; a record that shares its hash has more.
TEST(YcsbChooser, OfYcsbZipfIsHashed) {
  constexpr uint64_t kRecords = 100'000;
  const std::vector<double> shares =
      SharesOf(YcsbChooser(YcsbRequest::kYcsbZipf, kRecords, 0, kDraw),
               kRecords, kRecords);
  const uint64_t hottest = YcsbZipf::KeyOf(0, kRecords + 1);
  EXPECT_NEAR(shares[hottest], 1 / YcsbZipf::kZeta,
              Tolerance(1 / YcsbZipf::kZeta) + 1e-4);
}

TEST(YcsbChooser, OfLatestDrawsTheNewestMostOften) {
  constexpr uint64_t kRecords = 1'000, kThere = 1'200;
  for (const YcsbRequest request :
       {YcsbRequest::kYcsbLatest, YcsbRequest::kLatest}) {
    const std::vector<double> shares =
        SharesOf(YcsbChooser(request, kRecords, 400, kDraw), kRecords, kThere);
    // YCSB's bound is one less: the last value of its reserve, where we pass
    // the number of values plus one.
    const uint64_t items =
        request == YcsbRequest::kLatest ? kThere : kThere - 1;
    double zeta = 0;
    for (uint64_t r = 1; r <= items; ++r) zeta += std::pow(r, -0.99);
    EXPECT_NEAR(shares[kThere - 1], 1 / zeta, Tolerance(1 / zeta));
    const double second = std::pow(2, -0.99) / zeta;
    EXPECT_NEAR(shares[kThere - 2], second, Tolerance(second));
  }
}

// Over all records present while inserts are still to come.
TEST(YcsbChooser, DrawsOnlyExistingRecords) {
  constexpr uint64_t kRecords = 100;
  for (const YcsbRequest request :
       {YcsbRequest::kYcsbZipf, YcsbRequest::kZipf, YcsbRequest::kUniform,
        YcsbRequest::kYcsbLatest, YcsbRequest::kLatest, YcsbRequest::kHotspot,
        YcsbRequest::kExponential}) {
    SharesOf(YcsbChooser(request, kRecords, 500, kDraw), kRecords, kRecords);
  }
}

// Beyond a thousand terms, zeta is no longer summed term by term.
TEST(YcsbChooser, OfLatestKnowsTheSumOfManyTerms) {
  constexpr uint64_t kRecords = 1'000'000;
  YcsbChooser chooser(YcsbRequest::kYcsbLatest, kRecords, 0, kDraw);
  Random random(5);
  double newest = 0;
  for (int i = 0; i < kDraws; ++i) {
    newest += chooser.Next(random, kRecords) == kRecords - 1;
  }
  double zeta = 0;
  for (uint64_t r = kRecords - 1; r > 0; --r) zeta += std::pow(r, -0.99);
  EXPECT_NEAR(newest / kDraws, 1 / zeta, Tolerance(1 / zeta));
}

TEST(YcsbInserts, AreVisibleOnceAllBeforeThemAreAcknowledged) {
  YcsbInserts inserts(10);
  EXPECT_EQ(inserts.acknowledged(), 10u);
  EXPECT_EQ(inserts.Take(), 10u);
  EXPECT_EQ(inserts.Take(), 11u);
  std::set<uint64_t> there = {11};
  const auto is_there = [&](uint64_t ordinal) {
    return there.contains(ordinal);
  };
  inserts.Acknowledge(is_there);
  EXPECT_EQ(inserts.acknowledged(), 10u);  // 10 is not
  there.insert(10);
  inserts.Acknowledge(is_there);
  EXPECT_EQ(inserts.acknowledged(), 12u);
}

TEST(YcsbInserts, OfManyThreadsAreAllTakenOnce) {
  constexpr uint64_t kEach = 2'000;
  YcsbInserts inserts(3);
  std::vector<std::atomic<bool>> there(3 + 4 * kEach);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kEach; ++i) {
        const uint64_t ordinal = inserts.Take();
        EXPECT_FALSE(there[ordinal].exchange(true));
        inserts.Acknowledge([&](uint64_t o) { return there[o].load(); });
        EXPECT_LE(inserts.acknowledged(), 3 + 4 * kEach);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(inserts.Take(), 3 + 4 * kEach);
}

}  // namespace
}  // namespace kvmatrix
