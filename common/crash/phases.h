// What the writer of a crash test does, as a list of phases.
//
//   first:N    right after the database was created: N commits, a reopening
//   single:N   N commits of one update
//   batch:N    N commits of 100 updates, if the engine has atomic batches
//   cover:N    N times: buffered commits until a file appears or disappears
//              (only a few once a round has passed without one), and a few
//              more; then one durable commit, a put.  Nothing if each commit
//              is durable.
//   growth:N   N commits of one value of 4 KiB
//   settle:N   Flush(), Settle(), then N commits
//   compact:N  Compact(), then N commits
//   close:N    a reopening, then N commits
//   fill:N     commits of ten values of 4 KiB until one fails, N at most
//   read:N     N durable commits that another thread reads meanwhile

#ifndef COMMON_CRASH_PHASES_H_
#define COMMON_CRASH_PHASES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kvmatrix {

enum class PhaseKind {
  kFirst,
  kSingle,
  kBatch,
  kCover,
  kGrowth,
  kSettle,
  kCompact,
  kClose,
  kFill,
  kRead,
};

struct Phase {
  PhaseKind kind;
  uint64_t count;
};

// Reads a list such as "first:5,single:40".  Throws UsageError.
std::vector<Phase> ParsePhases(const std::string& list);

}  // namespace kvmatrix

#endif  // COMMON_CRASH_PHASES_H_
