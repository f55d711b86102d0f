// The file in which a writer records what it begins and what was acknowledged.
// It lies outside the disk whose power is cut.  Each record is one write(2), so
// the file is whole, however the process ends.

#ifndef COMMON_CRASH_TRACE_H_
#define COMMON_CRASH_TRACE_H_

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

namespace kvmatrix {

// What has happened.  The numbers are those of the file.
enum class TraceKind : uint32_t {
  kHeader = 0,  // at_ns is kTraceMagic, commit the seed, extra the format
  kPhaseBegins = 1,
  kCommitBegins = 2,
  kAcknowledged = 3,
  kPhaseEnds = 4,  // commit: barriers during it; extra: its commits
  kOpenBegins = 5,
  kOpened = 6,
  kCloseBegins = 7,
  kClosed = 8,
  kFailed = 9,  // a call of the engine threw
  kDone = 10,
  kFilesChanged = 11,  // a file has appeared or disappeared
  kReady = 12,         // the writer waits for its end
  kSeen = 13,          // another thread has read a value of the commit
};

inline constexpr uint64_t kTraceMagic = 0x6b766d6174726163;
inline constexpr uint32_t kTraceFormat = 1;

// As in the file, which is little-endian.
struct TraceRecord {
  uint64_t at_ns = 0;   // CLOCK_MONOTONIC
  uint64_t commit = 0;  // from 1; 0 before the first
  TraceKind kind = TraceKind::kHeader;
  uint32_t phase = 0;        // index in the list of phases
  uint32_t updates = 0;      // of the commit
  uint32_t value_bytes = 0;  // of each put in it
  uint32_t durable = 0;      // 1: the commit is to survive a loss of power
  uint32_t extra = 0;        // of a commit: puts in it
};
static_assert(sizeof(TraceRecord) == 40);

// Appends to a new file, in the order of time.  Thread-safe.
class Trace {
 public:
  // Replaces the file and writes the header.  Throws std::system_error.
  Trace(const std::filesystem::path& file, uint64_t seed);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  // Appends a record with the time of now.  Throws std::system_error.
  void Add(TraceRecord record);

 private:
  void Write(const TraceRecord& record);

  const std::filesystem::path file_;
  const int fd_;
  std::mutex mutex_;  // held from the reading of the clock to the writing
};

// Returns the records of a file, the header first, without a last one that is
// incomplete.  Throws std::runtime_error if it is not a trace.
std::vector<TraceRecord> ReadTrace(const std::filesystem::path& file);

}  // namespace kvmatrix

#endif  // COMMON_CRASH_TRACE_H_
