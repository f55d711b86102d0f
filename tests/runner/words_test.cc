// How an executable parses its command line.

#include <gflags/gflags.h>

#include "common/cli/flags.h"
#include "common/cli/parse_flags.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

// Returns the error message for these words; empty if they are accepted.
std::string ComplaintAbout(const std::vector<const char*>& words) {
  const gflags::FlagSaver saver;
  try {
    ParseFlags(words, Driver{});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Words, SetFlagsInEveryFormOfGflags) {
  const gflags::FlagSaver saver;
  ParseFlags(std::vector<const char*>{"--num=7", "-reads", "5", "--histogram",
                                      "--nocompression", "--num", "8"},
             Driver{});
  const Config config = ConfigFromFlags();
  EXPECT_EQ(config.num, 8u);
  EXPECT_EQ(config.reads, 5u);
  EXPECT_TRUE(config.histogram);
  EXPECT_FALSE(config.compression);
}

TEST(Values, AreWrittenAsPeopleDo) {
  const gflags::FlagSaver saver;
  ParseFlags(
      std::vector<const char*>{
          "--num=1.5k", "--reads", "1e5", "--value_size=1KiB",
          "--cache_size=8 MiB", "--duration=500ms", "--rate=2k",
          "--benchmarks=fillseq[X2], readrandom[W1] ,seekrandom[X2-W1]"},
      Driver{});
  const Config config = ConfigFromFlags();
  EXPECT_EQ(config.num, 1500u);
  EXPECT_EQ(config.reads, 100'000u);
  EXPECT_EQ(config.value_size, 1024u);
  EXPECT_EQ(config.cache_size, 8u << 20);
  EXPECT_EQ(config.duration_ns, 500'000'000u);
  EXPECT_EQ(config.rate_ops_per_sec, 2000);
  std::vector<std::string_view> names;
  for (const Benchmark* benchmark : config.benchmarks) {
    names.push_back(benchmark->name);
  }
  const std::vector<std::string_view> due = {
      "fillseq",    "fillseq",    "readrandom", "readrandom",
      "seekrandom", "seekrandom", "seekrandom"};
  EXPECT_EQ(names, due);
  EXPECT_EQ(config.warm_ups, (std::set<size_t>{2, 4}));
  EXPECT_EQ(config.repeats, (std::map<size_t, size_t>{{1, 2}, {6, 2}}));
}

TEST(Words, ReplayAProgramWithItsSettings) {
  constexpr const char* kSets[] = {"--cache_size=777", "--nocompression",
                                   "--benchmarks=fillseq,readrandom"};
  Driver driver{};
  driver.program_flags = kSets;
  const auto parsed = [&](const std::vector<const char*>& words) {
    const gflags::FlagSaver saver;
    ParseFlags(words, driver);
    return ConfigFromFlags();
  };
  const Config replay = parsed({"--stream=leveldb-301"});
  EXPECT_EQ(replay.cache_size, 777u);
  EXPECT_FALSE(replay.compression);
  EXPECT_EQ(replay.benchmarks.size(), 2u);
  const Config overridden = parsed({"--cache_size=5", "--stream=leveldb-301",
                                    "--compression", "--benchmarks=fillseq"});
  EXPECT_EQ(overridden.cache_size, 5u);
  EXPECT_TRUE(overridden.compression);
  EXPECT_EQ(overridden.benchmarks.size(), 1u);
  for (const char* other : {"--stream=kvmatrix", "--stream=leveldb"}) {
    EXPECT_NE(parsed({other}).cache_size, 777u) << other;
    EXPECT_TRUE(parsed({other}).compression) << other;
  }
}

TEST(Words, ThatAreNoFlagsAreRefusedByName) {
  EXPECT_EQ(ComplaintAbout({"--numm=3"}),
            "unknown flag --numm: did you mean --num?; see --help");
  EXPECT_EQ(ComplaintAbout({"--nonum"}),
            "unknown flag --nonum: did you mean --num?; see --help");
  EXPECT_EQ(ComplaintAbout({"--NUM=3"}),
            "unknown flag --NUM: did you mean --num?; see --help");
  EXPECT_EQ(ComplaintAbout({"--qqqq"}), "unknown flag --qqqq; see --help");
  EXPECT_EQ(ComplaintAbout({"--nocompression=1"}),
            "unknown flag --nocompression: did you mean --compression?; "
            "see --help");
  for (const char* word : {"extra", "", "-", "--"}) {
    EXPECT_EQ(ComplaintAbout({word}),
              "unexpected argument '" + std::string(word) + "'; see --help");
  }
}

// Returns all that is said about these words.
std::vector<std::string> ComplaintsAbout(
    const std::vector<const char*>& words) {
  const gflags::FlagSaver saver;
  try {
    ParseFlags(words, Driver{});
  } catch (const UsageError& error) {
    return error.lines();
  }
  return {};
}

TEST(Words, AreAllRefusedAtOnce) {
  const std::vector<std::string> lines = ComplaintsAbout(
      {"--statistics", "--memtablerep", "vector", "--num=x", "extra",
       "--threads=2", "-P", "workload", "-p", "a=b", "--statistics",
       "--benchmarks=fillseq, stats,RandomRead,stats"});
  const char* const parts[] = {"--statistics", "--memtablerep", "-P, -p: ",
                               "--num: ",      "'extra'",       "'stats'",
                               "'RandomRead'"};
  ASSERT_EQ(lines.size(), std::size(parts));
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(Has(lines[i], parts[i])) << lines[i];
  }
  EXPECT_TRUE(Has(lines[0], "leave it out"));
  EXPECT_TRUE(Has(lines[1], "changes the result"));
  EXPECT_TRUE(Has(lines[2], "kvmatrix run"));
  EXPECT_TRUE(Has(lines[6], "did you mean readrandom?"));
}

TEST(Words, ThatAreTruthsFollowAnEqualsSign) {
  EXPECT_TRUE(Has(ComplaintAbout({"--sync", "false"}), "--sync=false"));
  EXPECT_TRUE(Has(ComplaintAbout({"-sync", "1", "--num=2"}), "--sync=1"));
  EXPECT_EQ(ComplaintAbout({"--histogram", "--num", "1"}), "");
}

TEST(Words, OfOtherProgramsHaveAnEquivalent) {
  for (const auto& [word, part] :
       {std::pair{"--compression_type=zstd", "--compression"},
        {"--WAL_enabled=1", "--journal_mode"},
        {"--use_fsync", "--durability"},
        {"--flagfile=x", "$(cat FILE)"},
        {"--report_interval_seconds=1", "--json"},
        {"--stats_per_interval=1", "leave it out"},
        {"--perf_level=2", "leave it out"},
        {"--level0_slowdown_writes_trigger=9", "no equivalent"},
        {"--benchmark_write_rate_limit=5", "--writes_per_second"},
        {"--max_num_range_tombstones=5", "no equivalent"}}) {
    EXPECT_TRUE(Has(ComplaintAbout({word}), part)) << word;
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
  ParseFlags(std::vector<const char*>{"--num", "--check", "9", "-check"},
             Driver{});
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

TEST(Values, HaveTheTypeOfTheirFlag) {
  EXPECT_EQ(ComplaintAbout({"--num=1.5"}),
            "--num: expected a whole number from 1 to 10^16, not '1.5'");
  EXPECT_EQ(ComplaintAbout({"--reads=x"}),
            "--reads: expected a whole number from 1 to 10^16, or -1, not "
            "'x'");
  EXPECT_EQ(ComplaintAbout({"--compression=maybe"}),
            "--compression: expected true or false, not 'maybe'");
  EXPECT_EQ(ComplaintAbout({"--compression_ratio", "half"}),
            "--compression_ratio: expected a number from 0 to 1, not 'half'");
  EXPECT_EQ(ComplaintAbout({"--num"}), "--num: needs a value: --num=VALUE");
}

}  // namespace
}  // namespace kvmatrix
