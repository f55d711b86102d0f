// How an executable was built.  For each db_bench_<engine>, CMake generates a
// source file with the one definition of kBuildFacts, next to the driver's
// kDriver.

#ifndef COMMON_CLI_BUILD_FACTS_H_
#define COMMON_CLI_BUILD_FACTS_H_

namespace kvmatrix {

// Texts for --version and for the "build" object of a result line.
struct BuildFacts {
  const char* origin;         // where the engine's source comes from
  const char* origin_sha256;  // of the upstream archive, or of a library
                              // built elsewhere; "" if unknown
  const char* engine_flags;   // the engine library's compiler flags, or ""
  const char* compiler;       // name and version, such as "GNU 12.2.0"
  const char* flags;          // compiler flags of the driver and the harness
};

extern const BuildFacts kBuildFacts;

}  // namespace kvmatrix

#endif  // COMMON_CLI_BUILD_FACTS_H_
