// To which phase of a benchmark the work of its disk is attributed.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

class DevicePhasesTest : public RunnerFixture {};

// A disk of which the test writes the counters: all of them count its events.
class FakeDisk {
 public:
  explicit FakeDisk(const std::filesystem::path& stat) : stat_(stat) { Add(0); }

  void Add(int events) {
    count_ += events;
    std::ofstream file(stat_);
    for (int i = 0; i < 17; ++i) file << count_ << " ";
  }

 private:
  const std::filesystem::path stat_;
  int count_ = 0;
};

TEST_F(DevicePhasesTest,
       AWriteHasTheDiskOfTheLoopAndTheFlushAndThatOfSettling) {
  config_.device_stat =
      testing::TempDir() + "kvmatrix_phases_stat_" + std::to_string(getpid());
  FakeDisk disk(config_.device_stat);
  Behaviour behaviour;
  behaviour.open = [&] { disk.Add(10'000); };
  behaviour.write = [&](Session& session, std::span<const Update> batch) {
    disk.Add(1);
    session.Write(batch);
  };
  behaviour.flush = [&] { disk.Add(20); };
  behaviour.settle = [&] { disk.Add(3000); };
  behaviour.close = [&] { disk.Add(40'000); };
  const Measurement overwrite = Over(behaviour, "overwrite");
  ASSERT_EQ(overwrite.status, Status::kOk) << overwrite.reason;
  EXPECT_EQ(overwrite.run.used.device.reads, 500u + 20);
  ASSERT_TRUE(overwrite.device_settle);
  EXPECT_EQ(overwrite.device_settle->reads, 3000u);
  EXPECT_EQ(overwrite.device_settle->written_bytes, 3000u * 512);
  const Measurement read = Over(behaviour, "readrandom");
  EXPECT_EQ(read.run.used.device.reads, 0u);
  EXPECT_FALSE(read.device_settle);
  config_.settle = false;
  EXPECT_FALSE(Over(behaviour, "overwrite").device_settle);
  config_.device_stat.clear();
  config_.settle = true;
  EXPECT_FALSE(Over(behaviour, "overwrite").device_settle);
}

}  // namespace
}  // namespace kvmatrix
