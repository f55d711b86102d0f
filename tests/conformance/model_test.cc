// What the conformance suite reports of answers that differ from the model.

#include "tests/conformance/model.h"

#include <gtest/gtest.h>

namespace kvmatrix {
namespace {

constexpr size_t kLarge = 100'000;
constexpr size_t kReadable = 1'000;  // bytes of a message

TEST(Model, ComparesBytes) {
  EXPECT_TRUE(EqualBytes("value", "value"));
  std::string changed(kLarge, 'x');
  changed[70'000] = 'y';
  const auto result = EqualBytes(changed, std::string(kLarge, 'x'));
  EXPECT_FALSE(result);
  const std::string message = result.message();
  EXPECT_LT(message.size(), kReadable);
  EXPECT_NE(message.find("100000 bytes"), message.npos) << message;
  EXPECT_NE(message.find("byte 70000"), message.npos) << message;
}

TEST(Model, SaysWhereAShorterValueEnds) {
  const std::string message = EqualBytes("val", "value").message();
  EXPECT_NE(message.find("from byte 3 on"), message.npos) << message;
}

TEST(Model, ComparesEntries) {
  std::vector<Entry> expected;
  for (int i = 0; i < 30; ++i) {
    expected.emplace_back(std::to_string(i), std::string(kLarge, 'x'));
  }
  EXPECT_TRUE(EqualEntries(expected, expected));
  std::vector<Entry> actual = expected;
  for (Entry& entry : actual) entry.second += "y";
  actual.pop_back();
  const auto result = EqualEntries(actual, expected);
  EXPECT_FALSE(result);
  const std::string message = result.message();
  EXPECT_LT(message.size(), kReadable);
  EXPECT_NE(message.find("29 entries instead of 30"), message.npos) << message;
  EXPECT_NE(message.find("100001 bytes"), message.npos) << message;
}

TEST(Model, NamesAnEntryThatIsMissing) {
  const std::string message =
      EqualEntries({{"a", "1"}}, {{"a", "1"}, {"b", "2"}}).message();
  EXPECT_NE(message.find("no entry instead of \"b\""), message.npos) << message;
}

TEST(Model, RecognisesVersions) {
  for (const char* version :
       {"1", "1.23", "11.8.1", "5.3.28-rc1", "0.9.31", "2024-11-05"}) {
    EXPECT_TRUE(IsVersion(version)) << version;
  }
  for (const char* other : {"", ".3.28:", "1.2.", "5.3.28:", "v1", "unknown"}) {
    EXPECT_FALSE(IsVersion(other)) << other;
  }
}

}  // namespace
}  // namespace kvmatrix
