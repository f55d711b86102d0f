#include "common/timing/progress.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/spec/config.h"

namespace kvmatrix {

Progress::Progress(const std::filesystem::path& file) {
  if (file.empty()) return;
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  void* mapped = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(uint64_t)) == 0) {
    mapped = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED,
                  fd, 0);
  }
  // close() may change it.
  const int error = errno;
  if (fd >= 0) close(fd);
  if (mapped == MAP_FAILED) {
    throw UsageError("progress", "cannot write " + file.string() + ": " +
                                     std::generic_category().message(error));
  }
  counter_ = static_cast<uint64_t*>(mapped);
  Reset();
}

Progress::~Progress() {
  if (counter_ != &unwatched_) munmap(counter_, sizeof(uint64_t));
}

}  // namespace kvmatrix
