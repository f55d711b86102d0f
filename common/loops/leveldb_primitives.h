// db_bench's benchmarks of what an engine's library does to blocks of bytes.

#ifndef COMMON_LOOPS_LEVELDB_PRIMITIVES_H_
#define COMMON_LOOPS_LEVELDB_PRIMITIVES_H_

#include <string>
#include <string_view>

#include "common/loops/run_context.h"

namespace kvmatrix {

// Bytes of the block that each operation takes: LevelDB's block size, as there.
inline constexpr size_t kPrimitiveBlock = 4096;

// What LevelDB's library does to a block of bytes that is in no database: what
// comes of `input` replaces `output`.  Throws Unsupported if a build of the
// library cannot be asked.
struct LevelDbPrimitives {
  using Run = void (*)(std::string_view input, std::string& output);
  Run crc32c;
  Run compress;
  Run uncompress;
};

// Defined by LevelDB's driver alone: in the executable of any other engine the
// linker leaves its address null.
[[gnu::weak]] extern const LevelDbPrimitives kLevelDbPrimitives;

inline bool HasPrimitives() { return &kLevelDbPrimitives != nullptr; }

// The CRC-32C (RFC 3720, B.4) of `bytes`, bit by bit.
uint32_t Crc32c(std::string_view bytes);

// Does the primitive to one block, again and again.  Every result is compared:
// a checksum with Crc32c(), a compressed block with one that gave the block
// back, an uncompressed one with the block.  The result says in `label` what
// db_bench says beside it.
// REQUIRES: HasPrimitives()
LoopResult RunPrimitive(const ThreadContext& context);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_LEVELDB_PRIMITIVES_H_
