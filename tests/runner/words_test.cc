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

}  // namespace
}  // namespace kvmatrix
