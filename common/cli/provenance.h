// Facts about the executable, determined from the running process rather than
// from the build configuration.

#ifndef COMMON_CLI_PROVENANCE_H_
#define COMMON_CLI_PROVENANCE_H_

#include <cstdint>
#include <string>

#include "common/driver.h"

namespace kvmatrix {

// Returns the allocator in force: the shared object that malloc resolves to,
// which need not be the one that was linked.
std::string AllocatorInForce();

// True if the engine's code calls assert(): the object that contains
// `engine_code`, or this executable, imports __assert_fail.
bool HasLiveAssertions(const void* engine_code);

// The effect of the engine's codec: the size of a database of `raw_bytes` with
// and without compression.
struct CodecProof {
  uint64_t raw_bytes = 0;
  uint64_t compressed_disk_bytes = 0;
  uint64_t plain_disk_bytes = 0;
};

// Writes two small databases in a new temporary directory and removes it, and
// two larger ones if a codec has no effect in the small ones.
// Throws std::system_error if there is less space than 16 MiB, or 80 MiB for
// the larger ones, and what the engine throws.
CodecProof ProveCodec(const Driver& driver);

// True if compression made the database smaller by a quarter of `raw_bytes`.
bool Compresses(const CodecProof& proof);

}  // namespace kvmatrix

#endif  // COMMON_CLI_PROVENANCE_H_
