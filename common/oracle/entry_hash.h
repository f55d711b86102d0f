// A hash of an entry's bytes, for loops that have a few nanoseconds for each:
// two checksums, each of every second word of 64 bits.
//
// CRC-32C (Castagnoli, Braeuer and Herrmann, 1993), of which processors compute
// a word in one instruction; it detects every change of up to 32 bits in a row.

#ifndef COMMON_ORACLE_ENTRY_HASH_H_
#define COMMON_ORACLE_ENTRY_HASH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kvmatrix {

// Both continue a CRC-32C with one word, without the inversions of the standard
// at the beginning and at the end.
struct CrcByTable {
  static uint64_t Step(uint64_t crc, uint64_t word) {
    word ^= crc;
    uint32_t next = 0;
    for (size_t i = 0; i < kTables.size(); ++i, word >>= 8) {
      next ^= kTables[kTables.size() - 1 - i][word & 0xff];
    }
    return next;
  }

  using Tables = std::array<std::array<uint32_t, 256>, sizeof(uint64_t)>;

  // kTables[n][byte]: of the byte with n zeroes behind it.
  static constexpr Tables kTables = [] {
    Tables tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (auto& table : tables) {
        for (int bit = 0; bit < 8; ++bit) {
          crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
        }
        table[byte] = crc;
      }
    }
    return tables;
  }();
};

#ifdef __x86_64__
// REQUIRES: kExists
struct CrcByInstruction {
  static inline const bool kExists = __builtin_cpu_supports("sse4.2");

  [[gnu::always_inline]] static uint64_t Step(uint64_t crc, uint64_t word) {
    asm("crc32q %1, %0" : "+r"(crc) : "rm"(word));
    return crc;
  }
};
#endif

// The hash of both texts of an entry.  Crc: one of the above; the hash is the
// same with both.
template <typename Crc>
class TextsHash {
 public:
  static constexpr size_t kBlock = 2 * sizeof(uint64_t);

  [[gnu::always_inline]] TextsHash(std::string_view key, std::string_view value)
      : even_(static_cast<uint32_t>(key.size())),
        odd_(static_cast<uint32_t>(value.size())) {}

  // REQUIRES: a block or more
  [[gnu::always_inline]] void Add(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const char* const last = end - kBlock;
    for (; at <= last; at += kBlock) AddBlock(at);
    if (at != end) AddBlock(last);  // some bytes a second time
  }

  void AddAny(std::string_view text) {
    if (text.size() >= kBlock) return Add(text);
    char padded[kBlock] = {};
    std::ranges::copy(text, padded);
    AddBlock(padded);
  }

  uint64_t Sum() const { return even_ << 32 | odd_; }

 private:
  [[gnu::always_inline]] void AddBlock(const char* block) {
    uint64_t words[2];
    std::memcpy(words, block, kBlock);
    even_ = Crc::Step(even_, words[0]);
    odd_ = Crc::Step(odd_, words[1]);
  }

  uint64_t even_;
  uint64_t odd_;
};

template <typename Crc>
[[gnu::noinline]] uint64_t EntryHashBy(std::string_view key,
                                       std::string_view value) {
  TextsHash<Crc> hash(key, value);
  hash.AddAny(key);
  hash.AddAny(value);
  return hash.Sum();
}

// Returns a hash of both texts: other texts, or the same bytes divided
// otherwise, have another one.
[[gnu::always_inline]] inline uint64_t EntryHash(std::string_view key,
                                                 std::string_view value) {
#ifdef __x86_64__
  if (CrcByInstruction::kExists) [[likely]] {
    using Hash = TextsHash<CrcByInstruction>;
    if (std::min(key.size(), value.size()) < Hash::kBlock) [[unlikely]] {
      return EntryHashBy<CrcByInstruction>(key, value);
    }
    Hash hash(key, value);
    hash.Add(key);
    hash.Add(value);
    return hash.Sum();
  }
#endif
  return EntryHashBy<CrcByTable>(key, value);
}

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_ENTRY_HASH_H_
