// How an executable was built.  CMake generates the one definition of
// kBuildFacts that each db_bench_<engine> links, beside its kDriver.

#ifndef COMMON_CLI_BUILD_FACTS_H_
#define COMMON_CLI_BUILD_FACTS_H_

namespace kvmatrix {

struct BuildFacts {
  const char* origin;         // where the engine's source came from, as a text
  const char* origin_sha256;  // of the upstream archive, or of the library that
                              // was built elsewhere; "" if unknown
  const char* engine_flags;   // the engine library's compiler flags, or ""
  const char* compiler;       // name and version, such as "GNU 12.2.0"
  const char* flags;          // compiler flags of the driver and the harness
};

extern const BuildFacts kBuildFacts;

}  // namespace kvmatrix

#endif  // COMMON_CLI_BUILD_FACTS_H_
