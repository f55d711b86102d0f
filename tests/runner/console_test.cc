// What an executable prints of texts that are not its own.

#include "common/cli/console.h"

#include <gtest/gtest.h>

#include "common/cli/text_output.h"
#include "common/run/measurement.h"

namespace kvmatrix {
namespace {

TEST(Printable, LeavesTextsAsTheyAre) {
  for (const char* text :
       {"", "IO error: /data/x.log: No space left on device",
        "back\\slash \"q\"", "d\xc3\xa9j\xc3\xa0 vu",
        "\xe6\x95\xb0\xe6\x8d\xae", "\xf0\x9f\x98\x80", "\xc2\xa0",
        "\xed\x9f\xbf\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(Printable("\x1b[31mred\n\t\x7f"), "\\x1b[31mred\\x0a\\x09\\x7f");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
  // The C1 characters: U+009B begins a sequence as ESC [ does.
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(Printable("\x9b"), "\\x9b");
  EXPECT_EQ(Printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(Printable("\xc3"), "\\xc3");
  EXPECT_EQ(Printable("\xe6\x95x"), "\\xe6\\x95x");
  // Longer forms than necessary, a surrogate, and more than Unicode has.
  EXPECT_EQ(Printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(Printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(Printable("\xf0\x80\x82\x9b"), "\\xf0\\x80\\x82\\x9b");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, ShowsBothEndsOfALongText) {
  const std::string shown =
      Printable("first" + std::string(100'000, '\x1b') + "last");
  EXPECT_LT(shown.size(), 8'000u);
  EXPECT_TRUE(shown.starts_with("first\\x1b"));
  EXPECT_NE(shown.find("[... 98209 bytes ...]"), shown.npos);
  EXPECT_TRUE(shown.ends_with("\\x1blast"));
  const std::string whole(2'000, 'x');
  EXPECT_EQ(Printable(whole), whole);
}

TEST(StatLine, IsOneLineWhateverTheReason) {
  Measurement m;
  m.benchmark = FindBenchmark("readrandom");
  m.status = Status::kUnsupported;
  m.reason = "no\x1b[2J\n::error::" + std::string(1'000, 'y');
  EXPECT_EQ(StatLine(m),
            "readrandom   : unsupported: no\\x1b[2J\\x0a::error::" +
                std::string(1'000, 'y') + "\n");
}

TEST(RepeatsText, HasTheMeanAndTheMedianOfWhatSucceeded) {
  const std::vector<Rates> rates = {{10, 1}, {20, 2}, {60, 6}, {}};
  EXPECT_EQ(RepeatsText("fillseq", rates),
            "fillseq      [AVG    3 runs] : 30 ops/sec;    3.0 MB/sec\n"
            "fillseq      [MEDIAN 3 runs] : 20 ops/sec;    2.0 MB/sec\n");
  const std::vector<Rates> gets = {{10}, {20}};
  EXPECT_EQ(RepeatsText("readrandom", gets),
            "readrandom   [AVG    2 runs] : 15 ops/sec\n"
            "readrandom   [MEDIAN 2 runs] : 15 ops/sec\n");
  EXPECT_EQ(RepeatsText("fillseq", std::span(rates).last(2)), "");
}

// The reason of a failure is printed once, to standard error.
TEST(StatLine, OfAFailureHasItsStatus) {
  Measurement m;
  m.benchmark = FindBenchmark("readrandom");
  m.reason = "a get of 0000000000000001 finds nothing";
  m.status = Status::kWrong;
  EXPECT_EQ(StatLine(m), "readrandom   : wrong\n");
  m.status = Status::kError;
  EXPECT_EQ(StatLine(m), "readrandom   : error\n");
}

}  // namespace
}  // namespace kvmatrix
