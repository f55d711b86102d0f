#include "common/disk/fuse_server.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

namespace kvmatrix {
namespace {

constexpr uint32_t kMostWritten = 128 << 10;  // bytes of one request
constexpr uint64_t kRoot = FUSE_ROOT_ID;
constexpr uint64_t kDisk = kRoot + 1;
constexpr char kName[] = "disk";
constexpr unsigned long kNoSymFollow = 256;  // MS_NOSYMFOLLOW of Linux 5.10
// Nothing changes behind the kernel's back.
constexpr uint64_t kForever = std::numeric_limits<uint32_t>::max();

int OpenDevice() {
  const int fd = open("/dev/fuse", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), "/dev/fuse");
  return fd;
}

template <typename Body>
Body As(std::span<const char> bytes) {
  Body body{};
  std::memcpy(&body, bytes.data(), std::min(sizeof(body), bytes.size()));
  return body;
}

fuse_attr AttributesOf(uint64_t node, uint64_t bytes) {
  fuse_attr attributes{};
  const bool is_disk = node == kDisk;
  attributes.ino = node;
  attributes.size = is_disk ? bytes : 0;
  attributes.blocks = attributes.size / kSectorBytes;
  attributes.mode = is_disk ? S_IFREG | 0600 : S_IFDIR | 0700;
  attributes.nlink = is_disk ? 1 : 2;
  attributes.blksize = 4096;
  return attributes;
}

// Gives the process mounts of its own, without the one on `folder`.
//
// A process that is the last in a mount namespace unmounts everything in it
// when it ends.  If that were a file system on this disk, it would wait for
// answers that this process does not give any more, for ever.
void LeaveMounts(const std::string& folder) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      umount2(folder.c_str(), MNT_DETACH) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "a mount namespace of its own");
  }
}

}  // namespace

FuseServer::FuseServer(const std::string& folder, Disk& disk)
    : folder_(folder),
      disk_(disk),
      fd_(OpenDevice()),
      buffer_(kMostWritten + 8192) {
  const std::string options =
      "fd=" + std::to_string(fd_) + ",rootmode=40000,user_id=0,group_id=0";
  if (mount("block_log", folder_.c_str(), "fuse.block_log",
            MS_NOSUID | MS_NODEV | MS_NOEXEC | kNoSymFollow,
            options.c_str()) != 0) {
    const int error = errno;
    close(fd_);
    throw std::system_error(error, std::generic_category(),
                            "mounting on " + folder_);
  }
  try {
    LeaveMounts(folder_);
  } catch (...) {
    close(fd_);
    throw;
  }
}

FuseServer::~FuseServer() { close(fd_); }

void FuseServer::Serve(int stop) {
  std::array<pollfd, 2> waits = {{{fd_, POLLIN, 0}, {stop, POLLIN, 0}}};
  for (;;) {
    const ssize_t size = read(fd_, buffer_.data(), buffer_.size());
    if (size > 0) {
      Answer({buffer_.data(), static_cast<size_t>(size)});
    } else if (size == 0 || errno == ENODEV) {
      return;  // unmounted
    } else if (errno == EAGAIN) {
      if (waits[1].revents != 0) return;
      poll(waits.data(), waits.size(), -1);
    } else if (errno != EINTR && errno != ENOENT) {
      throw std::system_error(errno, std::generic_category(), "/dev/fuse");
    }
  }
}

void FuseServer::Answer(std::span<const char> request) {
  const auto head = As<fuse_in_header>(request);
  const auto body = request.subspan(sizeof(head));
  switch (head.opcode) {
    case FUSE_INIT:
      return Init(head, body);
    case FUSE_LOOKUP:
      return LookUp(head, body);
    case FUSE_GETATTR:
    case FUSE_SETATTR: {
      fuse_attr_out out{};
      out.attr_valid = kForever;
      out.attr = AttributesOf(head.nodeid, disk_.bytes());
      return Reply(head, out);
    }
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      return Reply(head, fuse_open_out{});
    case FUSE_READ:
      return Read(head, body);
    case FUSE_WRITE:
      return Write(head, body);
    case FUSE_FSYNC:
      disk_.Flush();
      return ReplyBytes(head, {});
    case FUSE_FALLOCATE:
      return Allocate(head, body);
    case FUSE_STATFS:
      return Reply(head, fuse_statfs_out{});
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_DESTROY:
      return ReplyBytes(head, {});
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      return;  // which expect no answer
    default:
      return Fail(head, ENOSYS);
  }
}

void FuseServer::Init(const fuse_in_header& head, std::span<const char> body) {
  const auto kernel = As<fuse_init_in>(body);
  if (kernel.major < FUSE_KERNEL_VERSION) return Fail(head, EPROTO);
  fuse_init_out answer{};
  answer.major = FUSE_KERNEL_VERSION;
  answer.minor = std::min<uint32_t>(kernel.minor, FUSE_KERNEL_MINOR_VERSION);
  answer.max_readahead = kernel.max_readahead;
  answer.flags = FUSE_BIG_WRITES;
  answer.max_background = 16;
  answer.congestion_threshold = 12;
  answer.max_write = kMostWritten;
  answer.time_gran = 1;
  Reply(head, answer);
}

void FuseServer::LookUp(const fuse_in_header& head,
                        std::span<const char> body) {
  if (std::string_view(body.data(), strnlen(body.data(), body.size())) != kName)
    return Fail(head, ENOENT);
  fuse_entry_out out{};
  out.nodeid = kDisk;
  out.entry_valid = out.attr_valid = kForever;
  out.attr = AttributesOf(kDisk, disk_.bytes());
  Reply(head, out);
}

void FuseServer::Read(const fuse_in_header& head, std::span<const char> body) {
  const auto in = As<fuse_read_in>(body);
  const uint64_t end = std::min(in.offset + in.size, disk_.bytes());
  ReplyBytes(head,
             disk_.Read(in.offset, end > in.offset ? end - in.offset : 0));
}

void FuseServer::Write(const fuse_in_header& head, std::span<const char> body) {
  const auto in = As<fuse_write_in>(body);
  const auto data = body.subspan(sizeof(in));
  if (data.size() < in.size || !disk_.Has(in.offset, in.size))
    return Fail(head, EINVAL);
  disk_.Write(in.offset, data.first(in.size));
  fuse_write_out out{};
  out.size = in.size;
  Reply(head, out);
}

void FuseServer::Allocate(const fuse_in_header& head,
                          std::span<const char> body) {
  const auto in = As<fuse_fallocate_in>(body);
  if (!disk_.Has(in.offset, in.length)) return Fail(head, EINVAL);
  if (in.mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
    disk_.Discard(in.offset, in.length);
  ReplyBytes(head, {});
}

template <typename Body>
void FuseServer::Reply(const fuse_in_header& head, const Body& body) {
  ReplyBytes(head, {reinterpret_cast<const char*>(&body), sizeof(body)});
}

void FuseServer::ReplyBytes(const fuse_in_header& head,
                            std::span<const char> body) {
  const fuse_out_header out = {
      .len = static_cast<uint32_t>(sizeof(fuse_out_header) + body.size()),
      .error = 0,
      .unique = head.unique};
  const std::array<iovec, 2> parts = {
      {{const_cast<fuse_out_header*>(&out), sizeof(out)},
       {const_cast<char*>(body.data()), body.size()}}};
  // An answer to a request that was interrupted is refused; no one waits for
  // it.
  static_cast<void>(writev(fd_, parts.data(), parts.size()) < 0);
}

void FuseServer::Fail(const fuse_in_header& head, int error) {
  const fuse_out_header out = {
      .len = sizeof(fuse_out_header), .error = -error, .unique = head.unique};
  static_cast<void>(write(fd_, &out, sizeof(out)) < 0);
}

}  // namespace kvmatrix
