// db_bench_liar: the memory engine, which breaks its promise as the name says
// under which it is started.  Only a cut of the power, or a full disk, can show
// it.
//
//   never      does not sync
//   seldom     syncs one commit in five
//   elsewhere  syncs another file
//   deaf       ignores all errors of the disk
//
// Under any other name it is honest.

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string_view>

namespace {

constexpr int kSeldom = 5;

bool Lies(std::string_view lie) { return program_invocation_short_name == lie; }

int SyncAsItSays(int fd) {
  static int commits = 0;
  if (Lies("never")) return 0;
  if (Lies("seldom") && ++commits % kSeldom != 0) return 0;
  if (Lies("elsewhere")) {
    static const int other =
        open("/proc/self/exe", O_RDONLY | O_CLOEXEC);  // durable already
    return fdatasync(other);
  }
  const int result = fdatasync(fd);
  return Lies("deaf") ? 0 : result;
}

ssize_t WriteAsItSays(int fd, const void* data, size_t size) {
  const ssize_t result = write(fd, data, size);
  return result < 0 && Lies("deaf") ? static_cast<ssize_t>(size) : result;
}

}  // namespace

#define fdatasync SyncAsItSays
#define write WriteAsItSays
#include "drivers/memory.cc"
