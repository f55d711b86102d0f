// How an executable parses its command line, and what it prints about it.

#include "common/cli/flags.h"

#include <gflags/gflags.h>

#include <nlohmann/json.hpp>

#include "common/cli/after_list.h"
#include "common/cli/json_output.h"
#include "common/cli/text_output.h"
#include "common/stream/leveldb_stream.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

using Flags = std::vector<std::pair<const char*, const char*>>;

Config Parse(const Flags& flags) {
  const gflags::FlagSaver saver;
  for (const auto& [name, value] : flags) {
    EXPECT_FALSE(gflags::SetCommandLineOption(name, value).empty()) << name;
  }
  return ConfigFromFlags();
}

// Returns the error message for these flags; empty if they are accepted.
std::string Complaint(const Flags& flags) {
  try {
    Parse(flags);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string ComplaintAfter(const char* after) {
  return Complaint({{"num", "1000"},
                    {"use_existing_db", "true"},
                    {"after", after},
                    {"benchmarks", "verify"}});
}

TEST(Lists, AreLimitedInLength) {
  std::string list = "fillseq";
  for (size_t i = 1; i < kMaxListed; ++i) list += ",overwrite:9";
  EXPECT_EQ(ComplaintAfter(list.c_str()), "");
  list += ",overwrite:9";
  EXPECT_TRUE(Has(ComplaintAfter(list.c_str()), "at most 1000 benchmarks"));
  EXPECT_TRUE(Has(Complaint({{"benchmarks", list.c_str()}}),
                  "--benchmarks: expected at most 1000 benchmarks"));
  EXPECT_TRUE(Has(Complaint({{"benchmarks", "fillseq[X999],readseq[X2]"}}),
                  "--benchmarks: expected at most 1000 benchmarks"));
}

TEST(Lists, SayHowOften) {
  for (const char* word :
       {"fillseq[]", "fillseq[X]", "fillseq[X0]", "fillseq[Y2]", "fillseq[2]",
        "fillseq[X2-]", "fillseq[X-2]", "fillseq[X1001]", "fillseq[X1.5]"}) {
    EXPECT_TRUE(Has(Complaint({{"benchmarks", word}}), "[X3]")) << word;
  }
  EXPECT_TRUE(Has(Complaint({{"benchmarks", "fillseq:5"}}), "'fillseq:5'"));
  EXPECT_EQ(ComplaintAfter(" fillseq , overwrite[X2]"), "");
  EXPECT_EQ(ComplaintAfter("fillseq:1k,overwrite:0.5k"), "");
}

TEST(Lists, HaveNoEmptyWords) {
  const Config config = Parse({{"benchmarks", ",fillseq,, ,readrandom, "}});
  EXPECT_EQ(config.benchmarks.size(), 2u);
  EXPECT_EQ(ComplaintAfter("fillseq,,overwrite,"), "");
  for (const char* list : {"", ",", " , "}) {
    EXPECT_TRUE(Has(Complaint({{"benchmarks", list}}), "at least one")) << list;
  }
  EXPECT_TRUE(Has(Complaint({{"benchmarks", "fillseq,[X3]"}}), "''"));
}

TEST(Duration, AloneEndsWhatHasNoReads) {
  EXPECT_TRUE(Parse({{"duration", "1"}}).ends_by_time);
  EXPECT_FALSE(Parse({{"duration", "1"}, {"reads", "5"}}).ends_by_time);
  EXPECT_TRUE(Parse({{"duration", "1"}, {"reads", "-1"}}).ends_by_time);
  EXPECT_FALSE(Parse({}).ends_by_time);
  const Config config = Parse({{"duration", "1"}});
  const auto ends = [&config](const char* name) {
    return EndsByTime(*FindBenchmark(name), config);
  };
  for (const char* name :
       {"readrandom", "readmissing", "readhot", "getseq", "seekrandom",
        "seekordered", "readwhilewriting", "overwrite", "overwritebatch",
        "deleterandom", "readrandomwriterandom", "mix", "ycsba", "mixgraph"}) {
    EXPECT_TRUE(ends(name)) << name;
  }
  for (const char* name :
       {"fillseq", "fillrandom", "fillsync", "ycsbload", "readseq",
        "readreverse", "deleteseq", "compact", "verify", "crc32c"}) {
    EXPECT_FALSE(ends(name)) << name;
  }
}

TEST(Values, OfMemoryAreLimited) {
  EXPECT_EQ(Complaint({{"cache_size", "17592186044416"}}), "");
  for (const char* size : {"17592186044417", "9223372036854775808"}) {
    EXPECT_EQ(Complaint({{"cache_size", size}}),
              "--cache_size: expected 0 to 2^44, not " + std::string(size));
  }
  EXPECT_TRUE(Has(HelpText(), "from 0 to 2^44"));
}

TEST(After, IsLimitedToWhatABenchmarkCanWrite) {
  for (const char* after :
       {"fillseq:200000000", "fillseq:1001", "fillseq:600+600",
        "fillseq,deleteseq:1001", "fillseq,deleteseq:999+2", "fillseqsync:11",
        "fillseq:18446744073709551615+2", "fillseq,ycsba:10000000000000001"}) {
    EXPECT_TRUE(Has(ComplaintAfter(after), "exceeds ")) << after;
  }
  for (const char* after :
       {"fillseq", "fillseq:1000", "fillseq:500+500", "fillseqsync:10",
        "fillseq,overwrite:400+500", "fillseq,readrandomwriterandom:2000",
        "fillseq,overwrite:1001", "fillseq,deleterandom:999+2",
        "fillseq,ycsba:10000000000000000", "fillseq,readwhilewriting:5000"}) {
    EXPECT_EQ(ComplaintAfter(after), "") << after;
  }
}

TEST(After, BeginsWithAFill) {
  for (const char* after :
       {"overwrite", "overwrite:5", "deleterandom", "readrandomwriterandom:5",
        "readwhilewriting:5", "mixgraph", "overwrite,fillseq"}) {
    EXPECT_TRUE(
        Has(ComplaintAfter(after), "list the benchmark that filled it first"))
        << after;
  }
}

TEST(After, TakesANumberForEachThread) {
  for (const char* after : {"fillseq:1000+", "fillseq:+1000", "fillseq:5++5",
                            "fillseq:", "fillseq:5x", "fillseq:-5"}) {
    EXPECT_TRUE(Has(ComplaintAfter(after), "operations")) << after;
  }
}

TEST(Theta, IsRefusedWhereNothingIsDrawnByIt) {
  EXPECT_TRUE(Has(Complaint({{"zipf_theta", "0.5"}}), "--zipf_theta: needs"));
  for (const char* name : {"uniform", "hot", "ycsb-zipf"}) {
    EXPECT_TRUE(
        Has(Complaint({{"zipf_theta", "0.5"}, {"key_distribution", name}}),
            "--zipf_theta: "))
        << name;
  }
  for (const char* name : {"zipf", "latest"}) {
    EXPECT_EQ(Complaint({{"zipf_theta", "0.5"},
                         {"key_distribution", name},
                         {"benchmarks", "ycsbload,readrandom"}}),
              "");
  }
  const auto of_ycsb = [](const char* name) {
    return Complaint({{"zipf_theta", "0.5"},
                      {"key_distribution", name},
                      {"benchmarks", "ycsbload,ycsbd"}});
  };
  EXPECT_TRUE(Has(of_ycsb("latest"), "ycsbd uses it only with"));
  EXPECT_EQ(of_ycsb("zipf"), "");
}

// What YCSB's property files say of requests, records and scans.
TEST(YcsbFlags, AreRefusedWhereTheyHaveNoEffect) {
  const Config config = Parse({{"benchmarks", "ycsbload,mix,ycsbd"},
                               {"key_distribution", "hotspot"},
                               {"hotspot_data_fraction", "0.1"},
                               {"hotspot_operation_fraction", "0.9"},
                               {"insert_order", "ordered"},
                               {"fieldcount", "3"},
                               {"max_scan_length", "50"},
                               {"scan_length_distribution", "zipf"}});
  EXPECT_EQ(config.hotspot.data, 0.1);
  EXPECT_EQ(config.hotspot.operations, 0.9);
  EXPECT_EQ(config.mix.insert_order, "ordered");
  EXPECT_EQ(config.mix.fieldcount, 3u);
  EXPECT_EQ(config.mix.max_scan_length, 50u);
  const auto has = [](const Flags& flags, const char* what) {
    EXPECT_TRUE(Has(Complaint(flags), what)) << Complaint(flags);
  };
  has({{"hotspot_data_fraction", "0.1"}}, "--key_distribution=hotspot");
  has({{"key_distribution", "zipf"}, {"exponential_percentile", "90"}},
      "--key_distribution=exponential");
  has({{"key_distribution", "hotspot"}, {"hotspot_data_fraction", "1.1"}},
      "expected 0 to 1");
  has({{"min_scan_length", "5"}}, "--max_scan_length");
  has({{"scan_length_distribution", "zipf"}}, "--max_scan_length");
  has({{"min_scan_length", "9"}, {"max_scan_length", "8"}}, "9 is above");
  has({{"scan_length", "9"}, {"max_scan_length", "8"}}, "--max_scan_length");
  has({{"insert_order", "random"}}, "hashed or ordered");
  has({{"benchmarks", "ycsba"}, {"key_distribution", "sequential"}},
      "ycsb-zipf");
}

TEST(Reads, OfAllThreadsAreANumberThatDoesNotWrap) {
  const std::string most = std::to_string(kMaxKeys);
  const Config config = Parse({{"benchmarks", "readrandom"},
                               {"reads", most.c_str()},
                               {"threads", "256"}});
  Oracle oracle;
  oracle.ResetToPrefix(1'000, 100, 1'000);
  for (const char* name : {"readrandom", "readrandomwriterandom"}) {
    EXPECT_EQ(PlannedOperations(*FindBenchmark(name), config, oracle, true),
              2'560'000'000'000'000'000u);
  }
  const std::string more = std::to_string(kMaxKeys + 1);
  EXPECT_NE(Complaint({{"reads", more.c_str()}}), "");
  EXPECT_NE(Complaint({{"threads", "257"}}), "");
}

TEST(KeyRangesOfMixgraph, AreRefusedIfTheyOverflow) {
  const std::string message = Complaint({{"keyrange_dist_b", "1e9"}});
  EXPECT_TRUE(Has(message, "--keyrange_dist_a: ")) << message;
  EXPECT_TRUE(Has(message, "2^62 times as hot")) << message;
}

TEST(Help, KeepsNamesAndTheirTextApart) {
  const std::string help = HelpText();
  size_t column = 0;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    const std::string name = "\n  " + std::string(benchmark.name) + "  ";
    const size_t line = help.find(name);
    ASSERT_NE(line, help.npos) << name;
    const size_t text = help.find(benchmark.summary, line) - line;
    if (column == 0) column = text;
    EXPECT_EQ(text, column) << name;
  }
  EXPECT_TRUE(Has(help, "rounded down"));  // --transactions
}

// Defaults are printed as they can be typed.
TEST(Help, ShowsDefaultsInFull) {
  const std::string help = HelpText();
  EXPECT_TRUE(Has(help, "--num=1000000\n"));
  EXPECT_TRUE(Has(help, "--cache_size=4194304\n"));
  EXPECT_TRUE(Has(help, "--sync=false\n"));
}

// With --json the same facts are in the document.
TEST(Differences, AreListedForTheBenchmarksOfThisRun) {
  const auto notes = [](const char* benchmarks) {
    return DifferenceNotes(Parse({{"benchmarks", benchmarks}}));
  };
  EXPECT_EQ(notes("crc32c"), "");
  EXPECT_EQ(notes("compact,verify"), "");
  EXPECT_FALSE(Has(notes("fillseq"), "opens the database"));
  EXPECT_FALSE(Has(notes("readseq"), "a flush"));
  const std::string all = notes("fillrandom,readrandom,fillrandom,readseq");
  EXPECT_EQ(all.find('\n'), all.size() - 1);
  for (const char* part : {"a flush", "opens the database", "random keys"}) {
    const size_t first = all.find(part);
    ASSERT_NE(first, all.npos) << part;
    EXPECT_EQ(all.find(part, first + 1), all.npos) << part;
  }
}

TEST(Differences, SayThatTimeAloneEndsNoFill) {
  const auto notes = [](const char* benchmarks, const char* duration) {
    return DifferenceNotes(
        Parse({{"benchmarks", benchmarks}, {"duration", duration}}));
  };
  EXPECT_TRUE(Has(notes("fillrandom", "1"), "--duration"));
  EXPECT_FALSE(Has(notes("fillrandom", "0"), "--duration"));
  EXPECT_FALSE(Has(notes("fillseq,overwrite", "1"), "--duration"));
}

using OutputTest = RunnerFixture;

TEST_F(OutputTest, ListsTheMixgraphFlagsThatWereSet) {
  const auto options = [this](const Flags& flags) {
    const Config parsed = Parse(flags);
    config_.mix = parsed.mix;
    config_.set_flags = parsed.set_flags;
    const auto m = Run(Wrapped({}), {"filluniquerandom", "mixgraph"});
    return nlohmann::json::parse(
        ToJsonLine(m.back(), config_, kDriver))["options"];
  };
  EXPECT_FALSE(options({}).contains("mix_get_ratio"));
  const Flags flags = {{"keyrange_dist_a", "15.5"},
                       {"keyrange_dist_b", "-3.5"},
                       {"keyrange_dist_c", "0.5"},
                       {"keyrange_dist_d", "-0.5"},
                       {"keyrange_num", "20"},
                       {"key_dist_a", "0.5"},
                       {"key_dist_b", "0.25"},
                       {"value_theta", "1"},
                       {"value_k", "0.5"},
                       {"value_sigma", "25.45"},
                       {"iter_theta", "2"},
                       {"iter_k", "2.5"},
                       {"iter_sigma", "14"},
                       {"mix_get_ratio", "0.5"},
                       {"mix_put_ratio", "0.25"},
                       {"mix_seek_ratio", "0.25"},
                       {"mix_max_scan_len", "99"},
                       {"mix_max_value_size", "99"},
                       {"sine_mix_rate", "true"},
                       {"sine_a", "99"},
                       {"sine_b", "0.5"},
                       {"sine_c", "0.5"},
                       {"sine_d", "1000"},
                       {"sine_mix_rate_interval_milliseconds", "9"}};
  const auto reported = options(flags);
  for (const auto& [name, value] : flags) {
    ASSERT_TRUE(reported.contains(name)) << name;
    EXPECT_EQ(reported[name], nlohmann::json::parse(value)) << name;
  }
}

TEST_F(OutputTest, WarnsThatEmptyValuesVerifyLittle) {
  config_.value_size = 0;
  for (const Measurement& m : Run(Wrapped({}), {"fillseq", "verify"})) {
    EXPECT_EQ(m.status, Status::kOk) << m.reason;
    EXPECT_FALSE(m.verified);
  }
  EXPECT_TRUE(Has(HeaderText(config_, kDriver), "WARNING: values of 0 bytes"));
  config_.value_size = 1;
  EXPECT_TRUE(Run(Wrapped({}), {"fillseq"}).front().verified);
  EXPECT_FALSE(Has(HeaderText(config_, kDriver), "values of 0 bytes"));
}

TEST_F(OutputTest, SaysThatAReplayIgnoresTheSeed) {
  EXPECT_FALSE(Has(HeaderText(config_, kDriver), "--seed"));
  config_.stream = StreamKind::kDbBench;
  EXPECT_TRUE(Has(HeaderText(config_, kDriver), "--seed only determines"));
}

// A primitive does not fill the database: previous contents stay.
TEST_F(OutputTest, APrimitiveInAfterChangesNothing) {
  config_.stream = StreamKind::kDbBench;
  Run(Wrapped({}), {"fillseq"});
  const Measurement m = RunAfter(
      Wrapped({}), {ParseAfterWord("fillseq"), {FindBenchmark("crc32c"), {1}}},
      "verify");
  EXPECT_EQ(m.status, Status::kOk) << m.reason;
  EXPECT_EQ(m.run.loop.operations, config_.num);
}

TEST_F(OutputTest, TransactionsAreRoundedDownToWholeEntries) {
  config_.num = 1999;
  config_.transactions = 1000;
  uint64_t calls = 0;
  Behaviour behaviour;
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    ++calls;
    session.Write(batch);
  };
  Run(Wrapped(behaviour), {"fillseq"});
  EXPECT_EQ(calls, 1999u);
}

TEST(RateShare, NeedsAWarmUpAndNoOtherRate) {
  const Flags::value_type share = {"rate_share", "0.5"};
  const Flags::value_type warmup = {"warmup", "1"};
  EXPECT_EQ(Complaint({share, warmup}), "");
  EXPECT_TRUE(Has(Complaint({share}), "add --warmup"));
  EXPECT_TRUE(Has(Complaint({share, warmup, {"rate", "5"}}), " --rate;"));
  const Flags swinging = {share,
                          warmup,
                          {"sine_mix_rate", "true"},
                          {"sine_d", "9"},
                          {"sine_a", "1"}};
  EXPECT_TRUE(Has(Complaint(swinging), "--sine_mix_rate"));
}

TEST(MinTime, IsRefusedWithWhatItMakesNoSenseFor) {
  EXPECT_EQ(Complaint({{"min_time", "0.5"}, {"benchmarks", "fillseq"}}), "");
  EXPECT_TRUE(Has(Complaint({{"min_time", "0"}}), "--min_time: "));
  EXPECT_TRUE(Has(Complaint({{"min_time", "-1"}}), "--min_time: "));
  const Flags others = {{"duration", "1"},     {"warmup", "1"},
                        {"rate", "5"},         {"stream", "leveldb"},
                        {"device_stat", "/x"}, {"benchmarks", "overwrite"}};
  for (const auto& other : others) {
    const std::string complaint =
        Complaint({{"benchmarks", "fillseq"}, {"min_time", "0.5"}, other});
    EXPECT_TRUE(Has(complaint, "--min_time: ")) << complaint;
    EXPECT_TRUE(Has(complaint, other.first) || Has(complaint, other.second));
  }
}

}  // namespace
}  // namespace kvmatrix
