// db_bench's crc32c, snappycomp and snappyuncomp: what an engine's library does
// to blocks of bytes outside of any database.

#ifndef COMMON_LOOPS_LEVELDB_PRIMITIVES_H_
#define COMMON_LOOPS_LEVELDB_PRIMITIVES_H_

#include <string>
#include <string_view>

#include "common/loops/run_context.h"

namespace kvmatrix {

// Bytes of the block that each operation processes: LevelDB's block size, as in
// its db_bench.
inline constexpr size_t kPrimitiveBlock = 4096;

// Functions of LevelDB's library that replace `output` by the result for
// `input`.  They throw Unsupported if this build of the library does not export
// them.
struct LevelDbPrimitives {
  using Run = void (*)(std::string_view input, std::string& output);
  Run crc32c;
  Run compress;
  Run uncompress;
};

// Defined by LevelDB's driver only.  A weak symbol: in the executable of any
// other engine the linker leaves its address null.
[[gnu::weak]] extern const LevelDbPrimitives kLevelDbPrimitives;

// True if this executable can run the primitives.
inline bool HasPrimitives() { return &kLevelDbPrimitives != nullptr; }

// Returns the CRC-32C (RFC 3720, B.4) of `bytes`, computed bit by bit as a
// reference.
uint32_t Crc32c(std::string_view bytes);

// Applies the primitive of the benchmark to one block again and again.  Every
// result is compared: a checksum with Crc32c(), a compressed block with one
// that was uncompressed to the original, an uncompressed block with the
// original.  The label of the result is the message of LevelDB's db_bench.
// REQUIRES: HasPrimitives()
LoopResult RunPrimitive(const ThreadContext& context);

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_LEVELDB_PRIMITIVES_H_
