// CRC-32C by the processor's own instruction, for LevelDB: the one function of
// the crc32c library that its port calls, since the distribution has no such
// library.  LevelDB is compiled with -DHAVE_CRC32C=1 and this folder's parent
// among its headers, in C++11; configs/engines.toml has the options.
//
// LevelDB calls Extend() for a known text first, and uses its own code if the
// result is wrong, as it is on a processor without the instruction.

#ifndef DRIVERS_CRC32C_CRC32C_H_
#define DRIVERS_CRC32C_CRC32C_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace crc32c {

// True once Extend() has computed something: the driver reads it after an
// opening, to know with what LevelDB was compiled.
inline std::atomic<bool>& InUse() {
  static std::atomic<bool> in_use(false);
  return in_use;
}

#if defined(__x86_64__)
// REQUIRES: the processor has SSE 4.2
__attribute__((target("sse4.2"))) inline uint32_t ExtendBySse42(
    uint32_t crc, const uint8_t* data, size_t size) {
  uint64_t wide = ~crc;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  uint32_t narrow = static_cast<uint32_t>(wide);
  for (; size > 0; ++data, --size)
    narrow = __builtin_ia32_crc32qi(narrow, *data);
  return ~narrow;
}

// Returns the checksum of what `crc` is the checksum of, followed by `data`; 0
// if the processor cannot compute it.
inline uint32_t Extend(uint32_t crc, const uint8_t* data, size_t size) {
  static const bool can = __builtin_cpu_supports("sse4.2") != 0;
  if (!can) return 0;
  if (!InUse().load(std::memory_order_relaxed)) InUse().store(true);
  return ExtendBySse42(crc, data, size);
}
#else
inline uint32_t Extend(uint32_t, const uint8_t*, size_t) { return 0; }
#endif

}  // namespace crc32c

#endif  // DRIVERS_CRC32C_CRC32C_H_
