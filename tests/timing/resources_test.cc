// The kernel's counters, compared with other sources of the same facts.

#include "common/timing/resources.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kvmatrix {
namespace {

// The lines "name: number" of a file.
std::map<std::string, uint64_t> Lines(const char* path) {
  std::map<std::string, uint64_t> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    lines[line.substr(0, colon)] =
        std::strtoull(line.c_str() + colon + 1, nullptr, 10);
  }
  return lines;
}

class Directory {
 public:
  Directory() {
    std::string name = testing::TempDir() + "kvmatrix_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name);
    path = name;
  }
  ~Directory() { std::filesystem::remove_all(path); }

  std::filesystem::path path;
};

TEST(Resources, EqualTheKernelsFigures) {
  const Directory directory;
  std::ofstream(directory.path / "file") << std::string(100'000, 'x');
  const Resources before = Resources::Now();
  const auto io = Lines("/proc/self/io");
  const Resources after = Resources::Now();
  const auto between = [&](uint64_t Resources::* counter, const char* name) {
    EXPECT_LE(before.*counter, io.at(name)) << name;
    EXPECT_GE(after.*counter, io.at(name)) << name;
  };
  between(&Resources::read_bytes, "rchar");
  between(&Resources::written_bytes, "wchar");
  between(&Resources::storage_read_bytes, "read_bytes");
  between(&Resources::storage_written_bytes, "write_bytes");
  EXPECT_GE(after.written_bytes, 100'000u);
  EXPECT_GT(after.minor_faults, 0u);
  EXPECT_GT(after.cpu_ns(), 0u);
}

TEST(Resources, CountCallsThatWaitForTheDevice) {
  const Directory directory;
  const std::string path = directory.path / "file";
  std::ofstream(path) << std::string(10'000, 'x');
  const int file = open(path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  void* const map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(map, MAP_FAILED);
  const Resources before = Resources::Now();
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(fdatasync(file), 0);
  EXPECT_EQ(msync(map, 4096, MS_SYNC), 0);
  EXPECT_EQ(Resources::Now().Since(before).barriers, 3u);
  EXPECT_EQ(msync(map, 4096, MS_ASYNC), 0);
  EXPECT_EQ(Resources::Now().Since(before).barriers, 3u);
  munmap(map, 4096);
  close(file);
  errno = 0;
  EXPECT_EQ(fsync(file), -1);
  EXPECT_EQ(errno, EBADF);
  Resources sum = before;
  sum += before;
  EXPECT_EQ(sum.barriers, 2 * before.barriers);
}

// Returns the barriers of one write by each function.
uint64_t BarriersOfWrites(int file) {
  const Resources before = Resources::Now();
  char text[] = "text";
  const iovec part = {text, sizeof(text)};
  EXPECT_EQ(write(file, text, sizeof(text)), 5);
  EXPECT_EQ(pwrite(file, text, sizeof(text), 100), 5);
  EXPECT_EQ(pwrite64(file, text, sizeof(text), 100), 5);
  EXPECT_EQ(writev(file, &part, 1), 5);
  EXPECT_EQ(pwritev(file, &part, 1, 200), 5);
  EXPECT_EQ(pwritev2(file, &part, 1, 300, 0), 5);
  return Resources::Now().Since(before).barriers;
}

TEST(Resources, CountWritesThatAreDurableOnReturn) {
  const Directory directory;
  const std::string path = directory.path / "file";
  for (const auto& [flags, expected] :
       {std::pair{0, 0u}, {O_DSYNC, 6u}, {O_APPEND, 0u}, {O_SYNC, 6u}}) {
    // Each gets the descriptor that the one before had.
    const int file = open(path.c_str(), O_CREAT | O_RDWR | flags, 0640);
    ASSERT_GE(file, 0);
    EXPECT_EQ(BarriersOfWrites(file), expected) << flags;
    close(file);
  }
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);

  const int folder = open(directory.path.c_str(), O_RDONLY | O_DIRECTORY);
  const int file = openat64(folder, "file", O_WRONLY | O_DSYNC);
  EXPECT_EQ(BarriersOfWrites(file), 6u);
  close(file);
  // Closed and opened again where nobody sees it.
  FILE* const plain = std::fopen(path.c_str(), "r+");
  ASSERT_EQ(fileno(plain), file);
  EXPECT_EQ(BarriersOfWrites(file), 0u);
  char text[] = "text";
  const iovec part = {text, sizeof(text)};
  const Resources before = Resources::Now();
  EXPECT_EQ(pwritev2(file, &part, 1, 0, RWF_DSYNC), 5);
  EXPECT_EQ(Resources::Now().Since(before).barriers, 1u);
  std::fclose(plain);
  close(folder);
  errno = 0;
  EXPECT_EQ(write(file, text, 1), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(Resources, ReadingThemIsNotCounted) {
  const Resources before = Resources::Now();
  const Resources used = Resources::Now().Since(before);
  EXPECT_EQ(used.read_bytes, 0u);
  EXPECT_EQ(used.written_bytes, 0u);
}

TEST(Resources, AddUp) {
  const Resources some = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  Resources sum = some;
  sum += some;
  const Resources same = sum.Since(some);
  EXPECT_EQ(sum.storage_written_bytes, 20u);
  EXPECT_EQ(sum.cpu_ns(), 6u);
  EXPECT_EQ(same.cpu_user_ns, 1u);
  EXPECT_EQ(same.cpu_system_ns, 2u);
  EXPECT_EQ(same.minor_faults, 3u);
  EXPECT_EQ(same.major_faults, 4u);
  EXPECT_EQ(same.voluntary_switches, 5u);
  EXPECT_EQ(same.involuntary_switches, 6u);
  EXPECT_EQ(same.read_bytes, 7u);
  EXPECT_EQ(same.written_bytes, 8u);
  EXPECT_EQ(same.storage_read_bytes, 9u);
  EXPECT_EQ(same.storage_written_bytes, 10u);
}

TEST(ResidentMemory, EqualsTheKernelsFigure) {
  const ResidentMemory memory = ResidentMemory::Now("/proc");
  const auto status = Lines("/proc/self/status");
  const auto near = [](uint64_t bytes, uint64_t kilobytes) {
    EXPECT_NEAR(static_cast<double>(bytes),
                static_cast<double>(kilobytes * 1024), 4 << 20);
  };
  EXPECT_GT(memory.anonymous_bytes, 0u);
  EXPECT_GT(memory.file_bytes, 0u);
  near(memory.peak_bytes, status.at("VmHWM"));
  near(memory.anonymous_bytes, status.at("RssAnon") + status.at("RssShmem"));
  near(memory.file_bytes, status.at("RssFile"));
}

TEST(ResidentMemory, SharedMemoryIsOfFilesWhereFilesAreInMemory) {
  constexpr size_t kBytes = 64 << 20;
  const ResidentMemory before = ResidentMemory::Now("/proc");
  void* const shared = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_POPULATE | MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  const ResidentMemory on_disk = ResidentMemory::Now("/proc");
  const ResidentMemory in_memory = ResidentMemory::Now("/dev/shm");
  munmap(shared, kBytes);
  EXPECT_GE(on_disk.anonymous_bytes, before.anonymous_bytes + kBytes / 2);
  EXPECT_LT(on_disk.file_bytes, before.file_bytes + kBytes / 2);
  EXPECT_LT(in_memory.anonymous_bytes, before.anonymous_bytes + kBytes / 2);
  EXPECT_GE(in_memory.file_bytes, before.file_bytes + kBytes / 2);
}

TEST(DiskBytes, AreTheBlocksOfAllFiles) {
  const Directory directory;
  EXPECT_EQ(DiskBytes(directory.path / "absent"), 0u);
  EXPECT_EQ(DiskBytes(directory.path), 0u);
  std::filesystem::create_directory(directory.path / "below");
  std::ofstream(directory.path / "file") << std::string(1 << 20, 'x');
  std::ofstream(directory.path / "below" / "file") << std::string(1 << 20, 'x');
  std::ofstream(directory.path / "hole") << 'x';
  std::filesystem::resize_file(directory.path / "hole", 1 << 30);
  const uint64_t bytes = DiskBytes(directory.path);
  EXPECT_GE(bytes, 2u << 20);
  EXPECT_LT(bytes, 3u << 20);
}

}  // namespace
}  // namespace kvmatrix
