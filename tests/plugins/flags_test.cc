// The flags of a driver that is compiled as a plug-in.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "drivers/plugins/gflags/gflags.h"

namespace kvmatrix {
namespace {

DEFINE_bool(fast, true, "whether");
DEFINE_int32(bits, -1, "how many");
DEFINE_uint64(size, 1ull << 40, "how large");
DEFINE_double(share, 0.1, "of it");
DEFINE_string(codec, "lz4", "which");

const PluginFlag& Find(const std::string& name) {
  for (const PluginFlag& flag : PluginFlags()) {
    if (flag.name == name) return flag;
  }
  throw std::logic_error("no flag " + name);
}

TEST(PluginFlags, AreDescribedInTheirOrder) {
  ASSERT_EQ(PluginFlags().size(), 5);
  EXPECT_EQ(PluginFlags().front().name, "fast");
  EXPECT_EQ(Find("fast").default_value, "true");
  EXPECT_EQ(Find("bits").default_value, "-1");
  EXPECT_EQ(Find("bits").type, "int32");
  EXPECT_EQ(Find("size").default_value, "1099511627776");
  EXPECT_EQ(std::stod(Find("share").default_value), 0.1);
  EXPECT_EQ(Find("codec").help, "which");
}

TEST(PluginFlags, HaveTheValuesOfTheProgram) {
  Find("fast").set("false");
  Find("bits").set("10");
  Find("size").set("18446744073709551615");
  Find("share").set("2.5e-3");
  Find("codec").set("a b");
  EXPECT_FALSE(FLAGS_fast);
  EXPECT_EQ(FLAGS_bits, 10);
  EXPECT_EQ(FLAGS_size, UINT64_MAX);
  EXPECT_EQ(FLAGS_share, 2.5e-3);
  EXPECT_EQ(FLAGS_codec, "a b");
}

TEST(PluginFlags, RefuseOtherTexts) {
  EXPECT_THROW(Find("bits").set("3000000000"), std::invalid_argument);
  EXPECT_THROW(Find("share").set("much"), std::invalid_argument);
}

}  // namespace
}  // namespace kvmatrix
