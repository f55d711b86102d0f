// Serves one disk as the file "disk" of a file system of its own, by the
// kernel's FUSE protocol (linux/fuse.h), for a loop device on top of it.
//
// There is no cache for writing, so each write of the loop device arrives here,
// in order, before the device reports it as done; its flushes arrive as fsync.

#ifndef COMMON_DISK_FUSE_SERVER_H_
#define COMMON_DISK_FUSE_SERVER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/disk/disk.h"

struct fuse_in_header;

namespace kvmatrix {

class FuseServer {
 public:
  // Mounts the file system on a folder, for everybody but this process, which
  // leaves the mount namespace.  Throws std::system_error if /dev/fuse cannot
  // be used or the kernel refuses the mount.
  FuseServer(const std::string& folder, Disk& disk);
  FuseServer(const FuseServer&) = delete;
  FuseServer& operator=(const FuseServer&) = delete;
  // Fails the requests that are left, and all later ones, so that nothing waits
  // for them.  Others unmount it.
  ~FuseServer();

  // Answers requests until the file system is unmounted or `stop` is readable.
  // Throws std::system_error if the disk cannot record; every request fails
  // from then on.
  void Serve(int stop);

 private:
  void Answer(std::span<const char> request);
  template <typename Body>
  void Reply(const fuse_in_header& head, const Body& body);
  void ReplyBytes(const fuse_in_header& head, std::span<const char> body);
  void Fail(const fuse_in_header& head, int error);

  void Init(const fuse_in_header& head, std::span<const char> body);
  void LookUp(const fuse_in_header& head, std::span<const char> body);
  void Read(const fuse_in_header& head, std::span<const char> body);
  void Write(const fuse_in_header& head, std::span<const char> body);
  void Allocate(const fuse_in_header& head, std::span<const char> body);

  const std::string folder_;
  Disk& disk_;
  const int fd_;
  std::vector<char> buffer_;
};

}  // namespace kvmatrix

#endif  // COMMON_DISK_FUSE_SERVER_H_
