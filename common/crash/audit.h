// The side of a crash test that looks at what is left.

#ifndef COMMON_CRASH_AUDIT_H_
#define COMMON_CRASH_AUDIT_H_

#include <string>

#include "common/crash/crash_flags.h"
#include "common/driver.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Opens the database, compares what it holds with the trace, writes a few
// entries, and opens it again.  Returns one line of JSON:
//
//   acknowledged      the last commit acknowledged before the cut
//   begun             the last commit begun before its end
//   prefix            the last commit after which the database was as found;
//                     null: after none
//   lost              commits that were acknowledged, and durable if the level
//                     of the database is durable, but are not in the prefix
//   entries           found; expected_entries: after `acknowledged`
//   missing           keys that are not as in the nearest state
//   torn_batches      batches of which a part is there, if there is no prefix
//   foreign           keys and values that were never written
//   resurrected       keys that were deleted in the nearest state
//   covered           whether all that was acknowledged before the last durable
//                     commit is there; null: that commit is not, or all before
//                     it was durable itself
//   open_ns           the time of the first opening
//   open_error, read_error, write_error, reopen_error   of the engine; "": none
//   first_problem     a sentence; "": none
//
// Errors of the engine are in the line.  Throws std::runtime_error if the trace
// cannot be used.
std::string AuditCrash(const Driver& driver, const Config& config,
                       const CrashFlags& flags);

}  // namespace kvmatrix

#endif  // COMMON_CRASH_AUDIT_H_
