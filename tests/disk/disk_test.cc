#include "common/disk/disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/disk/log_file.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kBytes = 1 << 20;

std::string_view AsText(std::span<const char> bytes) {
  return {bytes.data(), bytes.size()};
}

class DiskTest : public testing::Test {
 protected:
  std::string_view Read(uint64_t offset, uint64_t bytes) const {
    return AsText(disk_.Read(offset, bytes));
  }

  const LogFile file_;
  WriteLog log_{file_.path()};
  Disk disk_{kBytes, log_};
};

TEST_F(DiskTest, BeginsAsZeros) {
  EXPECT_EQ(Read(0, kBytes), std::string(kBytes, '\0'));
  EXPECT_EQ(log_.entries(), 0u);
}

TEST_F(DiskTest, HoldsAndRecordsWhatWasWritten) {
  const std::string data(1024, 'w');
  disk_.Write(kBytes - 1024, data);
  disk_.Flush();
  EXPECT_EQ(Read(kBytes - 1024, 1024), data);
  EXPECT_EQ(Read(0, kBytes - 1024), std::string(kBytes - 1024, '\0'));
  EXPECT_EQ(log_.entries(), 2u);
  EXPECT_EQ(file_.Bytes().substr(2 * kSectorBytes, 1024), data);
}

// Ranges that begin and end within a page, at its ends, and in one page only.
TEST_F(DiskTest, DiscardedBytesAreZerosAndNoOthers) {
  const uint64_t kOffsets[] = {0, 512, 3584, 4096, 4608, 65536};
  const uint64_t kSizes[] = {0, 512, 4096, 4608, 8192, 70144, 262144};
  std::string expected(kBytes, 'x');
  for (const uint64_t offset : kOffsets) {
    for (const uint64_t size : kSizes) {
      disk_.Write(0, std::string(kBytes, 'x'));
      disk_.Discard(offset, size);
      expected.assign(kBytes, 'x');
      expected.replace(offset, size, size, '\0');
      EXPECT_TRUE(Read(0, kBytes) == expected) << offset << ' ' << size;
    }
  }
  EXPECT_EQ(log_.entries(), 2 * std::size(kOffsets) * std::size(kSizes));
}

TEST_F(DiskTest, HasWholeSectorsWithinIt) {
  EXPECT_TRUE(disk_.Has(0, kBytes));
  EXPECT_TRUE(disk_.Has(kBytes, 0));
  EXPECT_FALSE(disk_.Has(0, kBytes + 512));
  EXPECT_FALSE(disk_.Has(kBytes, 512));
  EXPECT_FALSE(disk_.Has(~uint64_t{511}, 1024));
  EXPECT_FALSE(disk_.Has(512, ~uint64_t{511}));  // whose end overflows
  EXPECT_FALSE(disk_.Has(100, 512));
  EXPECT_FALSE(disk_.Has(512, 100));
}

// A file with holes, as the image of a disk has, for a test.
class ImageTest : public DiskTest {
 protected:
  ImageTest() {
    std::ofstream image(path_, std::ios::binary);
    image.seekp(300 << 10) << std::string(5000, 'i');
    image.close();
  }
  ~ImageTest() override { std::filesystem::remove(path_); }

  const std::string path_ = file_.path() + ".image";
};

TEST_F(ImageTest, CanBeginAsAFile) {
  std::filesystem::resize_file(path_, kBytes);
  disk_.Load(path_);
  EXPECT_EQ(Read(300 << 10, 5000), std::string(5000, 'i'));
  EXPECT_EQ(Read(0, 300 << 10), std::string(300 << 10, '\0'));
  EXPECT_EQ(log_.entries(), 0u);
}

TEST_F(ImageTest, IsNotFilledInPart) {
  std::filesystem::resize_file(path_, kBytes + 512);
  try {
    disk_.Load(path_);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EFBIG);
  }
  EXPECT_THROW(disk_.Load("/nowhere/at/all"), std::system_error);
}

}  // namespace
}  // namespace kvmatrix
