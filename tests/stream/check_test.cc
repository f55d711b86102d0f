// The tally of answers: what is counted, merged and reported.

#include "common/oracle/check.h"

#include <gtest/gtest.h>

namespace kvmatrix {
namespace {

class CheckTest : public testing::Test {
 protected:
  CheckTest() { oracle_.ResetToPrefix(10, kValueSize, 10); }

  std::string ValueOf(uint64_t key) const {
    std::string bytes(values_.buffer_size(), '\0');
    values_.Write(key, 1, bytes.data());
    bytes.resize(kValueSize);
    return bytes;
  }

  static constexpr size_t kValueSize = 100;
  static constexpr size_t kKeySize = 16;
  const Values values_{301, kValueSize, 0.5};
  Oracle oracle_;
  Check check_{oracle_, values_, kKeySize};
};

// With an exclusive or instead of a sum, an entry read twice more would not
// change the digest.
TEST_F(CheckTest, TheDigestIsASum) {
  for (int i = 0; i < 3; ++i)
    check_.ExpectValue(check_.ExpectedOf(7), ValueOf(7));
  EXPECT_EQ(check_.digest(), 3 * values_.Fingerprint(7, 1));
  EXPECT_EQ(check_.found(), 3u);
  EXPECT_EQ(check_.Reason(), "");
}

TEST_F(CheckTest, AWrongAnswerIsNotCountedAsFound) {
  check_.ExpectValue(check_.ExpectedOf(7), ValueOf(8));
  check_.ExpectValue(check_.ExpectedOf(7), std::nullopt);
  check_.ExpectValue(check_.ExpectedOf(12), ValueOf(7));
  check_.ExpectAbsent("7", ValueOf(7));
  EXPECT_EQ(check_.found(), 0u);
  EXPECT_EQ(check_.digest(), 0u);
  EXPECT_TRUE(check_.Reason().ends_with("(and 3 more failures)"));
}

TEST_F(CheckTest, ReportsTheFirstFailureAndCountsTheOthers) {
  check_.ExpectValue(check_.ExpectedOf(7), std::nullopt);
  EXPECT_EQ(check_.Reason(),
            "a key that was written is not found: 0000000000000007");
  check_.ExpectValue(check_.ExpectedOf(8), std::nullopt);
  check_.ExpectValue(check_.ExpectedOf(9), ValueOf(7));
  EXPECT_EQ(check_.Reason(),
            "a key that was written is not found: 0000000000000007 (and 2 more "
            "failures)");
}

}  // namespace
}  // namespace kvmatrix
