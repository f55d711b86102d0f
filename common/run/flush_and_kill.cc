#include "common/run/flush_and_kill.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace kvmatrix {
namespace {

[[noreturn]] void ThrowErrno(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

// Forks.  The new process has the name kReporterName from its first moment.
pid_t ForkReporter() {
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  prctl(PR_SET_NAME, kReporterName);
  const pid_t pid = fork();
  if (pid != 0) prctl(PR_SET_NAME, name.data());
  if (pid < 0) ThrowErrno("fork");
  return pid;
}

// Ends this process without running any destructor or exit handler.
[[noreturn]] void KillSelf() {
  kill(getpid(), SIGKILL);
  _exit(128 + SIGKILL);  // the first process of a container survives that
}

// Returns what the other process has sent; ends this process if it has failed.
uint64_t Receive(int from) {
  uint64_t flush_ns = 0;
  ssize_t size = 0;
  do {
    size = read(from, &flush_ns, sizeof(flush_ns));
  } while (size < 0 && errno == EINTR);
  if (size != sizeof(flush_ns)) _exit(0);
  close(from);
  return flush_ns;
}

}  // namespace

uint64_t FlushAndKill(Clock& clock, const std::function<void()>& flush) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) ThrowErrno("pipe2");
  const auto [from, to] = ends;
  const pid_t pid = ForkReporter();
  if (pid == 0) {
    close(to);
    return Receive(from);
  }
  try {
    const uint64_t start_ns = clock.NowNs();
    flush();
    const uint64_t flush_ns = clock.NowNs() - start_ns;
    if (write(to, &flush_ns, sizeof(flush_ns)) < 0) ThrowErrno("write");
    KillSelf();
  } catch (...) {
    close(from);
    close(to);
    waitpid(pid, nullptr, 0);
    throw;
  }
}

}  // namespace kvmatrix
