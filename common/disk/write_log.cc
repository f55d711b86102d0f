#include "common/disk/write_log.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

static_assert(std::endian::native == std::endian::little);

namespace kvmatrix {
namespace {

using Sector = std::array<char, kSectorBytes>;

// Both as in drivers/md/dm-log-writes.c, but for at_ns.
struct SuperBlock {
  uint64_t magic = 0x6a736677736872;
  uint64_t version = 1;
  uint64_t entries = 0;
  uint32_t sector_bytes = kSectorBytes;
} __attribute__((packed));

struct EntryHead {
  uint64_t sector = 0;
  uint64_t sectors = 0;
  uint64_t flags = 0;
  uint64_t data_bytes = 0;  // of the text of a mark; others have 0
  uint64_t at_ns = 0;
};

template <typename Head>
Sector InSector(const Head& head) {
  Sector sector{};
  std::memcpy(sector.data(), &head, sizeof(head));
  return sector;
}

[[noreturn]] void ThrowFor(const std::string& file) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot write the log " + file);
}

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

int Create(const std::string& file) {
  const int fd =
      open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) ThrowFor(file);
  return fd;
}

}  // namespace

WriteLog::WriteLog(const std::string& file) : file_(file), fd_(Create(file)) {
  WriteSuperBlock();
  end_ = kSectorBytes;
}

WriteLog::~WriteLog() { close(fd_); }

void WriteLog::Append(LogEvent event, uint64_t offset, uint64_t bytes,
                      std::span<const char> data) {
  const Sector head = InSector(EntryHead{.sector = offset / kSectorBytes,
                                         .sectors = bytes / kSectorBytes,
                                         .flags = static_cast<uint64_t>(event),
                                         .at_ns = NowNs()});
  Write(head, data);
  ++entries_;
}

void WriteLog::Finish() { WriteSuperBlock(); }

void WriteLog::Write(std::span<const char> head, std::span<const char> data) {
  const std::array<iovec, 2> parts = {
      {{const_cast<char*>(head.data()), head.size()},
       {const_cast<char*>(data.data()), data.size()}}};
  const auto size = static_cast<ssize_t>(head.size() + data.size());
  const ssize_t written =
      pwritev(fd_, parts.data(), parts.size(), static_cast<off_t>(end_));
  if (written != size) {
    if (written >= 0) errno = ENOSPC;
    const int error = errno;
    if (ftruncate(fd_, static_cast<off_t>(end_)) != 0) errno = error;
    errno = error;
    ThrowErrno();
  }
  end_ += static_cast<uint64_t>(size);
}

void WriteLog::ThrowErrno() const { ThrowFor(file_); }

void WriteLog::WriteSuperBlock() {
  const Sector sector = InSector(SuperBlock{.entries = entries_});
  if (pwrite(fd_, sector.data(), sector.size(), 0) !=
      static_cast<ssize_t>(sector.size())) {
    ThrowErrno();
  }
}

}  // namespace kvmatrix
