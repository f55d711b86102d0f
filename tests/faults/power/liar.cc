// db_bench_liar: the memory engine, which tells by --lie how it breaks its
// promise.  Only a crash of the machine, or a full disk, can show each of these.

#include <errno.h>
#include <fcntl.h>
#include <gflags/gflags.h>
#include <unistd.h>

#include <string>

DEFINE_string(lie, "",
              "never: does not sync; seldom: syncs one commit in five; "
              "elsewhere: syncs another file; deaf: ignores all errors of the "
              "disk; empty: honest");

namespace {

constexpr int kSeldom = 5;

int SyncAsItSays(int fd) {
  static int commits = 0;
  if (FLAGS_lie == "never") return 0;
  if (FLAGS_lie == "seldom" && ++commits % kSeldom != 0) return 0;
  if (FLAGS_lie == "elsewhere") {
    static const int other =
        open("/proc/self/exe", O_RDONLY | O_CLOEXEC);  // durable already
    return fdatasync(other);
  }
  const int result = fdatasync(fd);
  return FLAGS_lie == "deaf" ? 0 : result;
}

ssize_t WriteAsItSays(int fd, const void* data, size_t size) {
  const ssize_t result = write(fd, data, size);
  return result < 0 && FLAGS_lie == "deaf" ? static_cast<ssize_t>(size)
                                            : result;
}

}  // namespace

#define fdatasync SyncAsItSays
#define write WriteAsItSays
#include "drivers/memory.cc"
