// The flags of a crash test.  They choose what the process does instead of
// benchmarks, so they are taken from the command line before the others.

#ifndef COMMON_CRASH_CRASH_FLAGS_H_
#define COMMON_CRASH_CRASH_FLAGS_H_

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kvmatrix {

enum class CrashTest { kNone, kWrite, kAudit };

// Unless its comment says otherwise, a field has the meaning of the flag of the
// same name: see kCrashHelp.
struct CrashFlags {
  CrashTest test = CrashTest::kNone;
  std::filesystem::path trace;
  std::string phases;
  uint64_t crash_after = 0;   // a commit; 0: none
  uint64_t crash_within = 0;  // a commit; 0: none
  uint64_t cut_ns = 0;
  uint64_t cut_end_ns = std::numeric_limits<uint64_t>::max();
};

inline constexpr std::string_view kDefaultPhases =
    "first:5,single:40,batch:6,cover:3,growth:30,settle:5,compact:5,close:10";

// For --help.
inline constexpr std::string_view kCrashHelp =
    "Crash tests (`kvmatrix durability` runs them):\n"
    "  --crash_test=write   write to --db, and record in --trace what was\n"
    "                       acknowledged\n"
    "  --crash_test=audit   print what of it is in --db\n"
    "  --trace=FILE         the record; keep it off the disk that is cut\n"
    "  --phases=LIST        what to do, such as first:5,single:40: see\n"
    "                       common/crash/phases.h\n"
    "  --crash_after=N      wait for the end after commit N; 0: never\n"
    "  --crash_within=N     kill this process (SIGKILL) at a random moment of\n"
    "                       commit N, without waiting for the disk; 0: never\n"
    "  --cut_ns=N           the power was cut after this time\n"
    "                       (CLOCK_MONOTONIC, in nanoseconds)\n"
    "  --cut_end_ns=N       and before this one\n";

// True for the name of a flag that TakeCrashFlags() takes.
bool IsCrashFlag(std::string_view name);

// Returns the flags of a crash test, and removes them from `words`.  Throws
// UsageError if one has a wrong value, or if one is missing or superfluous.
CrashFlags TakeCrashFlags(std::vector<const char*>& words);

}  // namespace kvmatrix

#endif  // COMMON_CRASH_CRASH_FLAGS_H_
