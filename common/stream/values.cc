#include "common/stream/values.h"

#include <algorithm>
#include <cstring>

namespace kvmatrix {
namespace {

uint64_t Load(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

void Store(char* to, uint64_t word) { std::memcpy(to, &word, sizeof(word)); }

// The random words of one value, in order: an arithmetic progression, each term
// multiplied by a constant of the value and folded to 64 bits.  One
// multiplication per 8 bytes, and the terms do not depend on each other's
// products.  Too weak for statistics, but no codec compresses it.
class Words {
 public:
  explicit Words(uint64_t root)
      : factor_(root | 1), term_(root ^ 0xe7037ed1a0b428dbu) {}

  uint64_t Next() {
    term_ += 0x2545f491;
    // Keeps the compiler from computing each term from scratch, which takes a
    // 64-bit constant and an addition per term.
    asm("" : "+r"(term_));
    return MixProduct(term_, factor_);
  }

 private:
  const uint64_t factor_;
  uint64_t term_;
};

constexpr size_t kWord = sizeof(uint64_t);
constexpr size_t kPiece = 100;  // bytes
constexpr size_t kMaxWords = (kPiece + kWord - 1) / kWord;
constexpr size_t kHalf = kPiece / 2;
constexpr size_t kHalfWords = (kHalf + kWord - 1) / kWord;

// Fills `size` bytes with the next `random_bytes` random bytes, repeated.  May
// write up to seven bytes more.
void WritePiece(char* piece, size_t random_bytes, size_t size, Words& words) {
  uint64_t random[kMaxWords];
  const size_t count = (random_bytes + kWord - 1) / kWord;
  for (size_t i = 0; i < count; ++i) random[i] = words.Next();
  for (size_t start = 0; start < size; start += random_bytes) {
    for (size_t i = 0; i < count && start + i * kWord < size; ++i) {
      Store(piece + start + i * kWord, random[i]);
    }
  }
}

// The same for a whole piece at the default ratio of one half, without a branch
// and without writing past the piece: each word is stored in both halves.
[[gnu::always_inline]] inline void WriteHalfRandomPiece(char* piece,
                                                        Words& words) {
  constexpr size_t kWhole = kHalf / kWord * kWord;
#pragma GCC unroll 8
  for (size_t at = 0; at < kWhole; at += kWord) {
    const uint64_t word = words.Next();
    Store(piece + at, word);
    Store(piece + kHalf + at, word);
  }
  const uint64_t word = words.Next();
  std::memcpy(piece + kWhole, &word, kHalf - kWhole);
  std::memcpy(piece + kHalf + kWhole, &word, kHalf - kWhole);
}

// Writes pieces of any ratio until `bytes` bytes are filled.  Out of line, and
// with the words passed by value, so that the fast path, which does not call
// it, keeps its words in registers.
[[gnu::noinline]] void WritePieces(char* piece, size_t random_bytes,
                                   size_t bytes, Words words) {
  for (char* const end = piece + bytes; piece < end; piece += kPiece) {
    const size_t size = std::min<size_t>(kPiece, end - piece);
    WritePiece(piece, std::min(random_bytes, size), size, words);
  }
}

// True if the bytes are those that WritePieces() writes.
[[gnu::noinline]] bool ArePieces(const char* piece, size_t random_bytes,
                                 size_t bytes, Words words) {
  uint64_t difference = 0;
  for (const char* const end = piece + bytes; piece < end; piece += kPiece) {
    const size_t size = std::min<size_t>(kPiece, end - piece);
    char expected[kPiece + kWord];
    WritePiece(expected, std::min(random_bytes, size), size, words);
    difference |= std::memcmp(piece, expected, size) != 0;
  }
  return difference == 0;
}

// Returns zero if the piece is what WriteHalfRandomPiece() writes.  Reads
// exactly the bytes of the piece, and takes as long for a wrong piece as for a
// right one: differences are collected, not branched on.
uint64_t HalfRandomPieceDifference(const char* piece, Words& words) {
  uint64_t difference = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i + 1 < kHalfWords; ++i) {
    const uint64_t word = words.Next();
    difference |= Load(piece + i * kWord) ^ word;
    difference |= Load(piece + kHalf + i * kWord) ^ word;
  }
  // Only two bytes of the last word are in each half.  They are the last two of
  // the eight bytes loaded here; the shifts clear the other six.
  constexpr size_t kShift = 8 * (kHalfWords * kWord - kHalf);
  const uint64_t last = words.Next() << kShift;
  difference |= (Load(piece + kHalf - kWord) >> kShift << kShift) ^ last;
  difference |= (Load(piece + kPiece - kWord) >> kShift << kShift) ^ last;
  return difference;
}

// The same for the first `size` bytes of a piece.  REQUIRES: 0 < size < kPiece
uint64_t PartPieceDifference(const char* piece, size_t size, Words& words) {
  // The expected piece as words.  The second half starts two bytes into a word,
  // so each of its words is put together from two random words.
  constexpr size_t kShift = 8 * (kHalf % kWord);
  uint64_t random[kHalfWords];
  uint64_t expected[2 * kHalfWords - 1];
#pragma GCC unroll 8
  for (size_t i = 0; i < kHalfWords; ++i) random[i] = words.Next();
  uint64_t before = random[kHalfWords - 1] << (64 - kShift);
#pragma GCC unroll 8
  for (size_t i = 0; i < kHalfWords; ++i) {
    if (i + 1 < kHalfWords) expected[i] = random[i];
    expected[kHalfWords - 1 + i] = before >> (64 - kShift) | random[i]
                                                                 << kShift;
    before = random[i];
  }
  uint64_t difference = 0;
  const size_t count = size / kWord;
  for (size_t i = 0; i < count; ++i) {
    difference |= Load(piece + i * kWord) ^ expected[i];
  }
  const size_t rest = size % kWord;
  uint64_t last = 0;
  if (count > 0) {
    // Two shifts, because rest may be 0 and a shift by 64 is undefined.
    last = Load(piece + size - kWord) >> 1 >> (63 - 8 * rest);
  } else {
    std::memcpy(&last, piece, rest);
  }
  const uint64_t mask = (uint64_t{1} << (8 * rest)) - 1;
  return difference | (last ^ (expected[count] & mask));
}

}  // namespace

Values::Values(uint64_t seed, const ValueSizes& sizes, double compression_ratio)
    : pool_(),
      fixed_size_(sizes.fixed()),
      seed_a_(StreamSeed(seed, "values", 0)),
      seed_b_(StreamSeed(seed, "values", 1)),
      sizes_(sizes),
      value_size_(sizes.max()),
      random_bytes_(
          std::max(size_t{1}, static_cast<size_t>(kPiece * compression_ratio))),
      fast_bytes_(FastBytes(value_size_)) {}

Values::Values(std::string_view pool, size_t value_size)
    : pool_(pool),
      fixed_size_(false),
      seed_a_(0),
      seed_b_(0),
      sizes_(value_size),
      value_size_(value_size),
      random_bytes_(1),
      fast_bytes_(0) {}

size_t Values::FastBytes(size_t size) const {
  return random_bytes_ == kHalf ? (size + kPiece - 1) / kPiece * kPiece : 0;
}

inline void Values::Fill(uint64_t root, size_t size, size_t fast_bytes,
                         char* buffer) const {
  Words words(root);
  char* const fast_end = buffer + fast_bytes;
  char* piece = buffer;
  for (; piece < fast_end; piece += kPiece) WriteHalfRandomPiece(piece, words);
  if (size > fast_bytes) WritePieces(piece, random_bytes_, size, words);
}

inline bool Values::IsFilled(uint64_t root, size_t size,
                             const char* piece) const {
  Words words(root);
  if (random_bytes_ != kHalf)
    return ArePieces(piece, random_bytes_, size, words);
  uint64_t difference = 0;
  size_t rest = size;
  for (; rest >= kPiece; piece += kPiece, rest -= kPiece) {
    difference |= HalfRandomPieceDifference(piece, words);
  }
  if (rest > 0) difference |= PartPieceDifference(piece, rest, words);
  return difference == 0;
}

size_t Values::Write(uint64_t key, uint32_t version, char* buffer) const {
  const uint64_t root = Root(key, version);
  if (fixed_size_) [[likely]] {
    Fill(root, value_size_, fast_bytes_, buffer);
    return value_size_;
  }
  if (!pool_.empty()) {
    std::memcpy(buffer, Window(root).data(), value_size_);
    return value_size_;
  }
  const size_t size = sizes_.Of(root);
  WriteSized(root, size, buffer);
  return size;
}

void Values::WriteSized(uint64_t root, size_t size, char* buffer) const {
  if (random_bytes_ != kHalf) return Fill(root, size, 0, buffer);
  Words words(root);
  // Two pieces per iteration: the number of pieces varies from value to value,
  // and the end of the loop is mispredicted half as often.
  for (char* const end = buffer + size; buffer < end; buffer += 2 * kPiece) {
    WriteHalfRandomPiece(buffer, words);
    WriteHalfRandomPiece(buffer + kPiece, words);
  }
}

bool Values::IsValueOf(uint64_t root, std::string_view value) const {
  if (fixed_size_) [[likely]] {
    return value.size() == value_size_ &&
           IsFilled(root, value_size_, value.data());
  }
  if (!pool_.empty()) return value == Window(root);
  return IsValueOf(root, sizes_.Of(root), value);
}

bool Values::IsValueOf(uint64_t root, size_t size,
                       std::string_view value) const {
  return value.size() == size && IsFilled(root, size, value.data());
}

}  // namespace kvmatrix
