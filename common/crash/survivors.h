// What a database holds after a crash.

#ifndef COMMON_CRASH_SURVIVORS_H_
#define COMMON_CRASH_SURVIVORS_H_

#include <cstdint>
#include <map>
#include <string>

#include "common/crash/history.h"
#include "common/driver.h"

namespace kvmatrix {

struct Survivors {
  std::map<uint64_t, Found> keys;  // each key that was ever written
  uint64_t entries = 0;            // of the history
  uint64_t foreign = 0;            // keys and values that were never written
  std::string difference;          // between gets and the scan; "": none
};

// Reads all of a database, key by key and in a scan.  Throws what the engine
// throws.
Survivors ReadSurvivors(Session& session, const History& history);

}  // namespace kvmatrix

#endif  // COMMON_CRASH_SURVIVORS_H_
