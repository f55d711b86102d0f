// block_log: a disk whose every write and flush is recorded.  See --help.

#include <gflags/gflags.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <system_error>

#include "common/disk/disk.h"
#include "common/disk/fuse_server.h"
#include "common/disk/write_log.h"

DEFINE_string(mountpoint, "", "an empty folder, which gets one file: \"disk\"");
DEFINE_uint64(size_mb, 0, "size of the disk, in MiB");
DEFINE_string(log, "", "the file that records the disk, which is replaced");
DEFINE_string(image, "", "what the disk holds at first; empty: zeros");

namespace kvmatrix {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kUnfit = 4;
constexpr uint64_t kMostMegabytes = 1 << 20;

// Returns a descriptor that becomes readable once the process is to end.
int StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

int Refuse(const std::string& problem, int exit_status) {
  std::fprintf(stderr, "block_log: %s\n", problem.c_str());
  return exit_status;
}

// Answers requests until the end.  Throws what ended the recording early, after
// the log is finished.
void ServeAndFinish(std::optional<FuseServer>& server, int stop,
                    WriteLog& log) {
  std::exception_ptr failure;
  try {
    server->Serve(stop);
  } catch (...) {
    failure = std::current_exception();
  }
  server.reset();
  log.Finish();
  if (failure) std::rethrow_exception(failure);
}

int Record() {
  const int stop = StopSignals();
  WriteLog log(FLAGS_log);
  Disk disk(FLAGS_size_mb << 20, log);
  if (!FLAGS_image.empty()) disk.Load(FLAGS_image);
  std::optional<FuseServer> server;
  try {
    server.emplace(FLAGS_mountpoint, disk);
  } catch (const std::system_error& error) {
    return Refuse(error.what() +
                      std::string("; needs root and /dev/fuse, and ") +
                      "in a container --privileged",
                  kUnfit);
  }
  // If memory is short, the kernel must not wait for this disk to take pages
  // before it gives memory to the process that is the disk.
  prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);  // fails without CAP_SYS_RESOURCE
  std::puts("ready");
  std::fflush(stdout);
  ServeAndFinish(server, stop, log);
  return 0;
}

}  // namespace
}  // namespace kvmatrix

int main(int argc, char** argv) {
  using namespace kvmatrix;
  gflags::SetUsageMessage(
      "Serves a disk in memory as MOUNTPOINT/disk, for a loop device, and\n"
      "records each write, discard and completed flush in LOG, in the format\n"
      "of dm-log-writes.  Ends when MOUNTPOINT is unmounted, or at SIGTERM;\n"
      "unmount it then.\n"
      "Exit codes: 0 done; 1 the log cannot be written; 2 wrong usage; 4 no\n"
      "FUSE here.\n"
      "  block_log --mountpoint=m --size_mb=64 --log=disk.log");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc != 1) return Refuse("takes no words without --", kUsage);
  if (FLAGS_mountpoint.empty() || FLAGS_log.empty())
    return Refuse("--mountpoint and --log are missing; see --help", kUsage);
  if (FLAGS_size_mb == 0 || FLAGS_size_mb > kMostMegabytes)
    return Refuse("--size_mb: expected 1 to 1048576", kUsage);
  try {
    return Record();
  } catch (const std::exception& error) {
    return Refuse(error.what(), kFailed);
  }
}
