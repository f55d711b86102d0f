#include "common/resources.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

namespace kvmatrix {
namespace {

uint64_t ToNs(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1'000;
}

}  // namespace

Resources Resources::Now() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  Resources now;
  now.cpu_user_ns = ToNs(usage.ru_utime);
  now.cpu_system_ns = ToNs(usage.ru_stime);
  now.minor_faults = static_cast<uint64_t>(usage.ru_minflt);
  now.major_faults = static_cast<uint64_t>(usage.ru_majflt);
  now.voluntary_switches = static_cast<uint64_t>(usage.ru_nvcsw);
  now.involuntary_switches = static_cast<uint64_t>(usage.ru_nivcsw);
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t bytes;
  while (io >> name >> bytes) {
    if (name == "rchar:") now.read_bytes = bytes;
    if (name == "wchar:") now.written_bytes = bytes;
  }
  return now;
}

Resources Resources::Since(const Resources& earlier) const {
  return {cpu_user_ns - earlier.cpu_user_ns,
          cpu_system_ns - earlier.cpu_system_ns,
          minor_faults - earlier.minor_faults,
          major_faults - earlier.major_faults,
          voluntary_switches - earlier.voluntary_switches,
          involuntary_switches - earlier.involuntary_switches,
          read_bytes - earlier.read_bytes,
          written_bytes - earlier.written_bytes};
}

uint64_t PeakRssBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  uint64_t kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

uint64_t DiskBytes(const std::filesystem::path& directory) {
  uint64_t bytes = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    struct stat status;
    if (stat(entry.path().c_str(), &status) == 0) {
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace kvmatrix
