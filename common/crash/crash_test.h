// What a process does instead of benchmarks if its command line has
// --crash_test.

#ifndef COMMON_CRASH_CRASH_TEST_H_
#define COMMON_CRASH_CRASH_TEST_H_

#include <functional>
#include <string>

#include "common/crash/crash_flags.h"
#include "common/driver.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Exit codes of the writer.
inline constexpr int kCrashFailed = 1;       // the engine threw
inline constexpr int kCrashUnsupported = 3;  // the engine lacks the level

// Writes or audits in the folder --db, which exists, and passes each line of
// JSON to `print`.  Returns the exit code: 0 of an audit, whatever it found.
// Throws UsageError, or std::runtime_error if the trace cannot be used.
// REQUIRES: flags.test is not kNone
int RunCrashTest(const Driver& driver, const Config& config,
                 const CrashFlags& flags,
                 const std::function<void(const std::string&)>& print);

}  // namespace kvmatrix

#endif  // COMMON_CRASH_CRASH_TEST_H_
