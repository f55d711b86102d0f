// What an executable is made of, and the proof.

#ifndef COMMON_CLI_PROVENANCE_H_
#define COMMON_CLI_PROVENANCE_H_

#include <cstdint>
#include <string>

#include "common/driver.h"

namespace kvmatrix {

// The allocator in force: the shared object that malloc resolves to, which is
// not always the one that was linked.
std::string AllocatorInForce();

// True if the code of the engine calls assert(): the object that holds
// `engine_code`, or this executable, imports __assert_fail.
bool HasLiveAssertions(const void* engine_code);

// The engine's codec at work: the bytes that a database of `raw_bytes` takes
// with compression and without.
struct CodecProof {
  uint64_t raw_bytes = 0;
  uint64_t compressed_disk_bytes = 0;
  uint64_t plain_disk_bytes = 0;
};

// Writes two small databases in a new temporary directory, and removes it.
CodecProof ProveCodec(const Driver& driver);

// True if compression made the database clearly smaller.
bool Compresses(const CodecProof& proof);

}  // namespace kvmatrix

#endif  // COMMON_CLI_PROVENANCE_H_
