// How an executable parses its command line, and what it prints about it.

#include "common/cli/flags.h"

#include <gflags/gflags.h>

#include <nlohmann/json.hpp>

#include "common/cli/after_list.h"
#include "common/cli/json_output.h"
#include "common/cli/parse_flags.h"
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

bool Has(const std::string& text, const char* part) {
  return text.find(part) != text.npos;
}

// Returns the error message for these words; empty if they are accepted.
std::string ComplaintAbout(const std::vector<const char*>& words) {
  const gflags::FlagSaver saver;
  try {
    ParseFlags(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Words, SetFlagsInEveryFormOfGflags) {
  const gflags::FlagSaver saver;
  ParseFlags(std::vector<const char*>{"--num=7", "-reads", "5", "--histogram",
                                      "--nocompression", "--num", "8"});
  const Config config = ConfigFromFlags();
  EXPECT_EQ(config.num, 8u);
  EXPECT_EQ(config.reads, 5u);
  EXPECT_TRUE(config.histogram);
  EXPECT_FALSE(config.compression);
}

TEST(Words, ThatAreNoFlagsAreRefusedByName) {
  EXPECT_EQ(ComplaintAbout({"--numm=3"}), "unknown flag --numm=3; see --help");
  EXPECT_EQ(ComplaintAbout({"--nonum"}), "unknown flag --nonum; see --help");
  EXPECT_EQ(ComplaintAbout({"--nocompression=1"}),
            "unknown flag --nocompression=1; see --help");
  for (const char* word : {"extra", "", "-", "--"}) {
    EXPECT_EQ(ComplaintAbout({word}),
              "unexpected argument '" + std::string(word) + "'; see --help");
  }
}

TEST(Words, ThatGflagsWouldActOnAreUnknown) {
  for (const char* word :
       {"--flagfile=/dev/null", "--helpshort", "--fromenv=num",
        "--tryfromenv=num", "--undefok=x", "--helpon=x", "--helpmatch=x",
        "--helppackage", "--helpxml", "--tab_completion_word=x",
        "--tab_completion_columns=9"}) {
    EXPECT_TRUE(Has(ComplaintAbout({word}), "unknown flag")) << word;
  }
}

Action ActionOfAll(const std::vector<const char*>& words) {
  return ActionOf(words);
}

TEST(Actions, AreFoundAmongOtherWords) {
  EXPECT_EQ(ActionOfAll({}), Action::kRun);
  EXPECT_EQ(ActionOfAll({"--num=7", "check"}), Action::kRun);
  EXPECT_EQ(ActionOfAll({"--num=7", "-check", "--check"}), Action::kCheck);
  EXPECT_EQ(ActionOfAll({"--check", "--describe"}), Action::kDescribe);
  EXPECT_EQ(ActionOfAll({"--describe", "--version"}), Action::kVersion);
  EXPECT_EQ(ActionOfAll({"--version", "-helpfull"}), Action::kHelp);
}

TEST(Actions, AreNoFlags) {
  const gflags::FlagSaver saver;
  ParseFlags(std::vector<const char*>{"--num", "--check", "9", "-check"});
  EXPECT_EQ(ConfigFromFlags().num, 9u);
}

// Returns the error message about what to do; empty if there is none.
std::string ComplaintAboutAction(const std::vector<const char*>& words) {
  try {
    ActionOf(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Actions, HaveNoValue) {
  EXPECT_EQ(ComplaintAboutAction({"--version=3"}),
            "--version: has no value; write --version");
  for (const char* word :
       {"--help=x", "-helpfull=", "--describe=1", "--check=false"}) {
    EXPECT_TRUE(Has(ComplaintAboutAction({"--num=3", word}), "has no value"));
  }
}

TEST(Words, AreLimitedInLength) {
  const std::string longest = "--db=" + std::string(kMaxWord - 5, 'x');
  EXPECT_EQ(ComplaintAboutAction({longest.c_str()}), "");
  const std::string message = ComplaintAboutAction({(longest + "x").c_str()});
  EXPECT_TRUE(Has(message, "a word of 65537 bytes")) << message;
  EXPECT_LT(message.size(), 200u);
}

TEST(Lists, AreLimitedInLength) {
  std::string list = "fillseq";
  for (size_t i = 1; i < kMaxListed; ++i) list += ",overwrite:9";
  EXPECT_EQ(ComplaintAfter(list.c_str()), "");
  list += ",overwrite:9";
  EXPECT_TRUE(Has(ComplaintAfter(list.c_str()), "at most 1000 benchmarks"));
  EXPECT_TRUE(Has(Complaint({{"benchmarks", list.c_str()}}),
                  "--benchmarks: expected at most 1000 benchmarks, not 1001"));
}

TEST(Values, OfMemoryAreLimited) {
  EXPECT_EQ(Complaint({{"cache_size", "17592186044416"}}), "");
  for (const char* size : {"17592186044417", "9223372036854775808"}) {
    EXPECT_EQ(Complaint({{"cache_size", size}}),
              "--cache_size: expected 0 to 2^44, not " + std::string(size));
  }
  EXPECT_TRUE(Has(HelpText(), "from 0 to 2^44"));
}

TEST(Values, HaveTheTypeOfTheirFlag) {
  EXPECT_EQ(ComplaintAbout({"--num=1e3"}),
            "--num: expected a whole number from 1 to 10^16, not '1e3'");
  EXPECT_EQ(ComplaintAbout({"--reads=x"}),
            "--reads: expected a whole number from 1 to 10^16, or -1, not "
            "'x'");
  EXPECT_EQ(ComplaintAbout({"--compression=maybe"}),
            "--compression: expected true or false, not 'maybe'");
  EXPECT_EQ(ComplaintAbout({"--compression_ratio", "half"}),
            "--compression_ratio: expected a number from 0 to 1, not 'half'");
  EXPECT_EQ(ComplaintAbout({"--num"}), "--num: needs a value: --num=VALUE");
}

TEST(After, IsLimitedToWhatABenchmarkCanWrite) {
  for (const char* after :
       {"fillseq:200000000", "fillseq:1001", "fillseq:600+600",
        "fillseq,overwrite:1001", "fillseq,deleterandom:999+2",
        "fillseqsync:11", "fillseq:18446744073709551615+2",
        "fillseq,ycsba:10000000000000001"}) {
    EXPECT_TRUE(Has(ComplaintAfter(after), "exceeds ")) << after;
  }
  for (const char* after :
       {"fillseq", "fillseq:1000", "fillseq:500+500", "fillseqsync:10",
        "fillseq,overwrite:400+500", "fillseq,readrandomwriterandom:2000",
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
  EXPECT_FALSE(Has(notes("readseq"), "no two values"));
  const std::string all = notes("fillrandom,readrandom,fillrandom,readseq");
  for (const char* part : {"no two values", "opens the database", "64-bit"}) {
    const size_t first = all.find(part);
    ASSERT_NE(first, all.npos) << part;
    EXPECT_EQ(all.find(part, first + 1), all.npos) << part;
  }
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
  const Flags shared = {{"rate_share", "0.5"}, {"warmup", "1"}};
  const auto with = [&](Flags more) {
    more.insert(more.begin(), shared.begin(), shared.end());
    return Complaint(more);
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(
      Complaint({{"rate_share", "0.5"}}),
      "--rate_share: is a share of the rate of the warm-up; add --warmup");
  EXPECT_EQ(with({{"rate", "5"}}),
            "--rate_share: cannot be used with --rate; leave one of them out");
  EXPECT_EQ(with({{"sine_mix_rate", "true"}, {"sine_d", "9"}, {"sine_a", "1"}}),
            "--rate_share: cannot be used with --sine_mix_rate; leave one of "
            "them out");
}

}  // namespace
}  // namespace kvmatrix
