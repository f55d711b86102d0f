// What an executable db_bench_<engine> adds to common/: a driver, and how the
// executable was built.  drivers/linked.cc defines both for a driver that is
// linked, and drivers/plugin.cc for one that is loaded.

#ifndef COMMON_CLI_EXECUTABLE_H_
#define COMMON_CLI_EXECUTABLE_H_

#include <string_view>
#include <vector>

#include "common/driver.h"

namespace kvmatrix {

// The flag that chooses the driver, where one can be chosen, and the one that
// names another build of it, to be measured in the same process.
inline constexpr std::string_view kDriverFlag = "driver";
inline constexpr std::string_view kDuetFlag = "duet";

// Texts for --version and for the "build" object of a result line.
struct BuildFacts {
  const char* origin;         // where the engine's source comes from
  const char* origin_sha256;  // of the upstream archive, or of a library
                              // built elsewhere; "" if unknown
  const char* engine_flags;   // the engine library's compiler flags, or ""
  const char* compiler;       // name and version, such as "GNU 12.2.0"
  const char* flags;          // compiler flags of the driver and the harness
};

// For each db_bench_<engine>, CMake generates a source file with the one
// definition of this, next to the driver's kDriver.
extern const BuildFacts kBuildFacts;

// Returns the driver to measure, and removes from `words`, the command line
// without the name of the program, those that choose it.  Called once, before
// anything else that depends on the driver, such as its flags.  Throws
// UsageError if the driver cannot be loaded.
const Driver& SelectDriver(std::vector<const char*>& words);

// REQUIRES: SelectDriver() has returned
const BuildFacts& GetBuildFacts();

}  // namespace kvmatrix

#endif  // COMMON_CLI_EXECUTABLE_H_
