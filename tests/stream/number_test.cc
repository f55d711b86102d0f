// How people write numbers.  tests/configuration/test_spellings.py compares
// these with Python's.

#include "common/spec/number.h"

#include <gtest/gtest.h>

namespace kvmatrix {
namespace {

// Returns "-5", or "none".
std::string Whole(std::string_view text, Unit unit = Unit::kCount) {
  const std::optional<Integer> number = ParseInteger(text, unit);
  if (!number) return "none";
  return (number->negative ? "-" : "") + std::to_string(number->amount);
}

TEST(Numbers, HaveExponentsAndUnits) {
  EXPECT_EQ(Whole("1000"), "1000");
  EXPECT_EQ(Whole(" 1_000 "), "1000");
  EXPECT_EQ(Whole("\n1 k\r\n"), "1000");
  EXPECT_EQ(Whole("1e5"), "100000");
  EXPECT_EQ(Whole("1E+5"), "100000");
  EXPECT_EQ(Whole("1.5k"), "1500");
  EXPECT_EQ(Whole("2K"), "2000");
  EXPECT_EQ(Whole("1M"), "1000000");
  EXPECT_EQ(Whole("0.000001T"), "1000000");
  EXPECT_EQ(Whole("-1"), "-1");
  EXPECT_EQ(Whole("-0"), "0");
  EXPECT_EQ(Whole("8MiB", Unit::kBytes), "8388608");
  EXPECT_EQ(Whole("8 MiB", Unit::kBytes), "8388608");
  EXPECT_EQ(Whole("1.5KiB", Unit::kBytes), "1536");
  EXPECT_EQ(Whole("8388608", Unit::kBytes), "8388608");
  EXPECT_EQ(Whole("2min", Unit::kSeconds), "120");
  EXPECT_EQ(Whole("64MiB", Unit::kUnknown), "67108864");
}

TEST(Numbers, AreExact) {
  EXPECT_EQ(Whole("1.5"), "none");
  EXPECT_EQ(Whole("0.1KiB", Unit::kBytes), "none");
  EXPECT_EQ(Whole("1e-1"), "none");
  EXPECT_EQ(Whole("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Whole("18446744073709551616"), "none");
  EXPECT_EQ(Whole("16777216TiB", Unit::kBytes), "none");
  EXPECT_EQ(Whole("1e20"), "none");
  EXPECT_EQ(Whole("0e9999"), "0");
  EXPECT_EQ(Whole("9007199254740993"), "9007199254740993");
}

TEST(Numbers, AreNothingElse) {
  for (const char* text :
       {"",     " ",   "k",   "e5",    "1e",   "1e99999", "1e1_0",
        "0x10", "nan", "inf", "1,000", "1__0", "_1",      "1_",
        "1 0",  "--1", "1kk", "1KiB",  "1s",   "1 k k",   "."}) {
    EXPECT_EQ(Whole(text), "none") << text;
    EXPECT_FALSE(ParseNumber(text, Unit::kCount)) << text;
  }
  for (const char* text : {"8M", "8MB", "8k", "8mib", "8KB"}) {
    EXPECT_EQ(Whole(text, Unit::kBytes), "none") << text;
    EXPECT_EQ(Whole(text, Unit::kUnknown), "none") << text;
    EXPECT_NE(SpellingHint(text, Unit::kBytes).find("write 8"),
              std::string::npos)
        << text;
  }
}

TEST(Numbers, MayBeFractions) {
  EXPECT_EQ(ParseNumber("0.5", Unit::kCount), 0.5);
  EXPECT_EQ(ParseNumber("-2.5e-1", Unit::kCount), -0.25);
  EXPECT_EQ(ParseNumber("1.5k", Unit::kCount), 1500);
  EXPECT_EQ(ParseNumber("500ms", Unit::kSeconds), 0.5);
  EXPECT_EQ(ParseNumber("1.5h", Unit::kSeconds), 5400);
  EXPECT_EQ(ParseNumber("10", Unit::kSeconds), 10);
  EXPECT_FALSE(ParseNumber("1e400", Unit::kCount));
}

TEST(Numbers, ThatCountAreNotNegative) {
  EXPECT_EQ(ParseCount("5k"), 5000u);
  EXPECT_FALSE(ParseCount("-5"));
}

}  // namespace
}  // namespace kvmatrix
