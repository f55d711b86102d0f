// --durability and --sync: from the command line to the engine and the results.

#include "common/spec/durability.h"

#include <gflags/gflags.h>

#include <nlohmann/json.hpp>

#include "common/cli/flags.h"
#include "common/cli/json_output.h"
#include "common/spec/quantities.h"
#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

using Words = std::vector<std::pair<const char*, const char*>>;

// Returns the durability of a benchmark under these flags, or the error.
std::string Parsed(const Words& flags, const char* benchmark = "fillseq") {
  const gflags::FlagSaver saver;
  for (const auto& [name, value] : flags) {
    EXPECT_FALSE(gflags::SetCommandLineOption(name, value).empty()) << name;
  }
  try {
    const Config config = ConfigFromFlags();
    const Durability level = DurabilityOf(*FindBenchmark(benchmark), config);
    return std::string(DurabilityName(level));
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(DurabilityFlag, HasThreeLevels) {
  EXPECT_EQ(Parsed({}), "buffered");
  for (const char* level : {"buffered", "consistent", "durable"}) {
    EXPECT_EQ(Parsed({{"durability", level}}), level);
    EXPECT_EQ(Parsed({{"durability", level}}, "fillseqsync"), "durable");
  }
  EXPECT_EQ(Parsed({{"durability", "full"}}),
            "--durability: expected buffered, consistent or durable, not "
            "'full'");
}

TEST(DurabilityFlag, IsDurableWithSync) {
  EXPECT_EQ(Parsed({{"sync", "true"}}), "durable");
  EXPECT_EQ(Parsed({{"sync", "true"}, {"durability", "durable"}}), "durable");
  EXPECT_EQ(Parsed({{"sync", "false"}, {"durability", "consistent"}}),
            "consistent");
  for (const char* level : {"buffered", "consistent"}) {
    EXPECT_EQ(Parsed({{"sync", "true"}, {"durability", level}}),
              "--durability: " + std::string(level) +
                  " contradicts --sync=true; leave one of them out");
  }
  EXPECT_EQ(Parsed({{"sync", "false"}, {"durability", "durable"}}),
            "--durability: durable contradicts --sync=false; leave one of "
            "them out");
}

class DurabilityTest : public RunnerFixture {
 protected:
  // Returns the result lines.
  std::vector<nlohmann::json> Lines(
      const std::vector<std::string_view>& benchmarks) {
    std::vector<nlohmann::json> lines;
    for (const Measurement& m : Run(driver_, benchmarks)) {
      lines.push_back(nlohmann::json::parse(ToJsonLine(m, config_, driver_)));
    }
    return lines;
  }

  Driver driver_ = Wrapped({});
};

TEST_F(DurabilityTest, IsInTheResultsOfWritesWithItsPromise) {
  auto lines = Lines({"fillseqsync", "fillseq", "readseq"});
  EXPECT_EQ(lines[0]["options"]["durability"], "durable");
  EXPECT_EQ(lines[0]["options"]["sync"], true);
  EXPECT_EQ(lines[0]["promise"], "loses nothing acknowledged");
  EXPECT_EQ(lines[1]["options"]["durability"], "buffered");
  EXPECT_EQ(lines[1]["options"]["sync"], false);
  EXPECT_EQ(lines[1]["promise"], "may be corrupt");
  EXPECT_TRUE(lines[2]["promise"].is_null());
  driver_.guarantees = [] {
    return Guarantees{{{Promise::kLosesNewest, "here"}}};
  };
  EXPECT_EQ(Lines({"fillseq"})[0]["promise"], "may lose the newest");
}

TEST_F(DurabilityTest, ThatTheEngineLacksIsUnsupported) {
  config_.durability = Durability::kConsistent;
  const auto lines = Lines({"fillseq", "fillseqsync"});
  EXPECT_EQ(lines[0]["status"], "unsupported");
  EXPECT_TRUE(lines[0]["promise"].is_null());
  EXPECT_EQ(lines[1]["status"], "ok");
}

TEST_F(DurabilityTest, IsDescribedForEachLevel) {
  const auto promises =
      nlohmann::json::parse(DescribeJson(kDriver))["promises"];
  ASSERT_EQ(promises.size(), kDurabilities);
  EXPECT_EQ(promises["buffered"]["promise"], "may be corrupt");
  EXPECT_TRUE(promises["consistent"].is_null());
  EXPECT_NE(promises["durable"]["source"], "");
}

}  // namespace
}  // namespace kvmatrix
