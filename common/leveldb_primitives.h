// db_bench's benchmarks of what an engine's library does to blocks of bytes.

#ifndef COMMON_LEVELDB_PRIMITIVES_H_
#define COMMON_LEVELDB_PRIMITIVES_H_

#include <string>
#include <string_view>

#include "common/driver.h"
#include "common/workload.h"

namespace kvmatrix {

// Bytes of the block that each operation takes: LevelDB's block size, as there.
inline constexpr size_t kPrimitiveBlock = 4096;

// The primitive of that name, or null if the driver offers none.
const Primitive* FindPrimitive(const Driver& driver, std::string_view name);

// The CRC-32C (RFC 3720, B.4) of `bytes`, bit by bit.
uint32_t Crc32c(std::string_view bytes);

// Does the primitive to one block, again and again.  Every result is compared:
// a checksum with Crc32c(), a compressed block with one that gave the block
// back, an uncompressed one with the block.  The result says in `label` what
// db_bench says beside it.
LoopResult RunPrimitive(const Workload& workload, const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_LEVELDB_PRIMITIVES_H_
