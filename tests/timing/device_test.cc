// The counters of a block device, from a file that a test writes.

#include "common/timing/device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "common/spec/config.h"
#include "common/timing/resources.h"

namespace kvmatrix {
namespace {

class Device : public testing::Test {
 protected:
  ~Device() override { WatchDevice({}); }

  // Writes a stat file in which the Nth number is `first` + N.
  void Write(int first, int fields = 17) {
    std::ofstream file(path_);
    for (int i = 0; i < fields; ++i) file << "  " << first + i;
    file << "\n";
  }

  const std::filesystem::path path_ =
      testing::TempDir() + "kvmatrix_stat_" + std::to_string(getpid());
};

TEST_F(Device, HasZerosIfNoneIsWatched) {
  WatchDevice({});
  const DeviceCounters now = DeviceCounters::Now();
  for (const auto& [name, counter] : kDeviceCounters) {
    EXPECT_EQ(now.*counter, 0u) << name;
  }
  EXPECT_EQ(now.own_read_bytes, 0u);
}

TEST_F(Device, HasTheFieldsOfItsStatFile) {
  Write(100);
  WatchDevice(path_);
  const DeviceCounters now = DeviceCounters::Now();
  EXPECT_EQ(now.reads, 100u);
  EXPECT_EQ(now.read_bytes, 102u * 512);
  EXPECT_EQ(now.read_ms, 103u);
  EXPECT_EQ(now.writes, 104u);
  EXPECT_EQ(now.written_bytes, 106u * 512);
  EXPECT_EQ(now.write_ms, 107u);
  EXPECT_EQ(now.busy_ms, 109u);
  EXPECT_EQ(now.flushes, 115u);
  EXPECT_EQ(now.flush_ms, 116u);
}

TEST_F(Device, IsCountedWithTheResourcesOfAPeriod) {
  Write(100);
  WatchDevice(path_);
  const Resources before = Resources::Now();
  Write(150);
  Resources used = Resources::Now().Since(before);
  EXPECT_EQ(used.device.reads, 50u);
  EXPECT_EQ(used.device.written_bytes, 50u * 512);
  used += used;
  EXPECT_EQ(used.device.flushes, 100u);
}

TEST_F(Device, MustHaveAllCounters) {
  Write(100, 11);  // of a kernel before 4.18
  EXPECT_THROW(WatchDevice(path_), UsageError);
  EXPECT_THROW(WatchDevice(path_.string() + ".missing"), UsageError);
  EXPECT_THROW(WatchDevice(testing::TempDir()), UsageError);
}

}  // namespace
}  // namespace kvmatrix
