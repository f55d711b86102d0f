#include "common/crash/trace.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

static_assert(std::endian::native == std::endian::little);

namespace kvmatrix {
namespace {

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

int Create(const std::filesystem::path& file) {
  const int fd = open(
      file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), file.string());
  return fd;
}

}  // namespace

Trace::Trace(const std::filesystem::path& file, uint64_t seed)
    : file_(file), fd_(Create(file)) {
  Write({.at_ns = kTraceMagic, .commit = seed, .extra = kTraceFormat});
}

Trace::~Trace() { close(fd_); }

void Trace::Add(TraceRecord record) {
  const std::lock_guard lock(mutex_);
  record.at_ns = NowNs();
  Write(record);
}

void Trace::Write(const TraceRecord& record) {
  if (write(fd_, &record, sizeof(record)) != sizeof(record))
    throw std::system_error(errno, std::generic_category(), file_.string());
}

std::vector<TraceRecord> ReadTrace(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<TraceRecord> records;
  TraceRecord record;
  while (in.read(reinterpret_cast<char*>(&record), sizeof(record)))
    records.push_back(record);
  if (records.empty() || records[0].at_ns != kTraceMagic ||
      records[0].extra != kTraceFormat) {
    throw std::runtime_error(file.string() + ": not a trace of a crash test");
  }
  return records;
}

}  // namespace kvmatrix
