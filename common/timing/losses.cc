#include "common/timing/losses.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace kvmatrix {
namespace {

constexpr uint64_t kGraceNs = 1'000'000;
constexpr uint64_t kMostIdleNs = 5 * kIdleNs;
constexpr size_t kMaxText = 64 << 10;  // /proc/stat of 700 processors
constexpr size_t kThreadText = 512;

// Returns the beginning of a file of /proc or /sys; empty if it cannot be read.
std::string TextOf(int folder, const char* path, size_t most = kMaxText) {
  const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text(most, '\0');
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

// Calls `use` with each whole line.
template <typename Use>
void ForEachLine(std::string_view text, Use use) {
  for (size_t end; (end = text.find('\n')) != text.npos;
       text.remove_prefix(end + 1)) {
    use(text.substr(0, end));
  }
}

// Calls `use` with the id of each thread of this process, and the text of one
// of its files; empty if the thread has ended, or if there is no such file.
template <typename Use>
void ForEachThread(const char* file, Use use) {
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const std::string thread = entry->d_name;
    if (thread.front() == '.') continue;
    const std::string path = thread + file;
    use(std::stoi(thread), TextOf(dirfd(folder), path.c_str(), kThreadText));
  }
  closedir(folder);
}

void AddThreads(Losses& sum) {
  ForEachThread("/schedstat", [&](pid_t, const std::string& text) {
    unsigned long long waited_ns, slices;
    if (std::sscanf(text.c_str(), "%*u %llu %llu", &waited_ns, &slices) == 2) {
      sum.run_queue_ns = sum.run_queue_ns.value_or(0) + waited_ns;
      sum.time_slices = sum.time_slices.value_or(0) + slices;
    }
  });
}

// Returns true if another thread of this process has a processor, or waits for
// one.
bool OthersAreRunnable() {
  bool found = false;
  ForEachThread("/stat", [&](pid_t thread, const std::string& text) {
    const size_t name_end = text.rfind(')');  // a name may have any character
    found |= thread != gettid() && name_end != text.npos &&
             text.substr(name_end, 3) == ") R";
  });
  return found;
}

void AddProcessors(Losses& sum) {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof(mine), &mine) != 0) return;
  const auto tick_ns =
      1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  uint64_t user = 0, stolen = 0, seen = 0;
  ForEachLine(TextOf(AT_FDCWD, "/proc/stat"), [&](std::string_view line) {
    const std::string words(line);
    int cpu;
    unsigned long long of_user, nice, steal;
    constexpr char kWords[] = "cpu%d %llu %llu %*u %*u %*u %*u %*u %llu";
    if (std::sscanf(words.c_str(), kWords, &cpu, &of_user, &nice, &steal) != 4)
      return;
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &mine)) return;
    ++seen;
    user += of_user + nice;  // of_user includes virtual machines
    stolen += steal;
  });
  sum.processors = seen;
  if (seen == 0) return;
  sum.processors_user_ns = user * tick_ns;
  sum.stolen_ns = stolen * tick_ns;
}

// Returns the cpu.stat of this process's control group, or of the first version
// of control groups if that has the processors.
std::string FindCpuStat() {
  std::string found;
  ForEachLine(
      TextOf(AT_FDCWD, "/proc/self/cgroup"), [&](std::string_view line) {
        const size_t first = line.find(':');
        const size_t second = line.find(':', first + 1);
        if (second == line.npos) return;
        const std::string kinds(line.substr(first + 1, second - first - 1));
        const std::string path(line.substr(second + 1));
        const std::string root = "/sys/fs/cgroup";
        if (("," + kinds + ",").find(",cpu,") != std::string::npos) {
          found = root + "/cpu" + path + "/cpu.stat";
        } else if (kinds.empty() && found.empty()) {
          found = root + path + "/cpu.stat";
        }
      });
  return found;
}

void AddGroup(Losses& sum) {
  static const std::string path = FindCpuStat();
  ForEachLine(TextOf(AT_FDCWD, path.c_str()), [&](std::string_view line) {
    const size_t space = line.find(' ');
    if (space == line.npos) return;
    const std::string_view name = line.substr(0, space);
    const bool in_us = name == "throttled_usec";
    if (!in_us && name != "throttled_time") return;
    const uint64_t count =
        std::strtoull(std::string(line.substr(space)).c_str(), nullptr, 10);
    sum.throttled_ns = in_us ? count * 1000 : count;
  });
}

using Counter = std::optional<uint64_t> Losses::*;
constexpr Counter kCounters[] = {&Losses::run_queue_ns, &Losses::time_slices,
                                 &Losses::stolen_ns, &Losses::throttled_ns,
                                 &Losses::processors_user_ns};

}  // namespace

Losses Losses::Now() {
  Losses now;
  AddThreads(now);
  AddProcessors(now);
  AddGroup(now);
  return now;
}

// The counters of threads that have ended meanwhile are missing, so that the
// sum may have become smaller.
Losses Losses::Since(const Losses& earlier) const {
  Losses since;
  for (const Counter counter : kCounters) {
    if (!(this->*counter) || !(earlier.*counter)) continue;
    const uint64_t now = *(this->*counter), then = *(earlier.*counter);
    since.*counter = now - std::min(now, then);
  }
  since.processors = processors;
  return since;
}

Losses& Losses::operator+=(const Losses& more) {
  for (const Counter counter : kCounters) {
    std::optional<uint64_t>& sum = this->*counter;
    sum = sum && more.*counter ? std::optional(*sum + *(more.*counter))
                               : std::nullopt;
  }
  return *this;
}

Usage Usage::Start() {
  Usage start;
  start.lost = Losses::Now();
  start.used = Resources::Now();
  return start;
}

Usage Usage::Since(const Usage& start) {
  Usage since;
  since.used = Resources::Now().Since(start.used);
  since.lost = Losses::Now().Since(start.lost);
  return since;
}

Usage& Usage::operator+=(const Usage& more) {
  used += more.used;
  lost += more.lost;
  return *this;
}

IdleUse UsedWhileIdle(Clock& clock, uint64_t sleep_ns) {
  IdleUse idle;
  clock.SleepNs(kGraceNs);
  for (uint64_t slept_ns = 0; slept_ns < kMostIdleNs; slept_ns += sleep_ns) {
    const Resources before = Resources::Now();
    clock.SleepNs(sleep_ns);
    const Resources used = Resources::Now().Since(before);
    idle.used += used;
    idle.most_cpu_ns = std::max(idle.most_cpu_ns, used.cpu_ns());
    if (!OthersAreRunnable()) break;
  }
  return idle;
}

}  // namespace kvmatrix
