#include "common/values.h"

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

// The random words of one value, in order.
class Words {
 public:
  explicit Words(uint64_t base) : a_(base), b_(base ^ 0xe7037ed1a0b428dbu) {}

  uint64_t Next() {
    a_ += 0x9e3779b97f4a7c15u;
    b_ += 0xa0761d6478bd642fu;
    return MixProduct(a_, b_);
  }

 private:
  uint64_t a_;
  uint64_t b_;
};

// Repeats the first `period` bytes until `size` bytes are full.  May write up
// to seven bytes more.
void Repeat(char* bytes, size_t period, size_t size) {
  if (period < sizeof(uint64_t)) {
    for (size_t i = period; i < size; ++i) bytes[i] = bytes[i - period];
    return;
  }
  for (size_t i = period; i < size; i += sizeof(uint64_t)) {
    Store(bytes + i, Load(bytes + i - period));
  }
}

// Zero if the first `size` bytes are the next words.
uint64_t DifferenceFromWords(const char* bytes, size_t size, Words& words) {
  uint64_t difference = 0;
  uint64_t word = 0;
  size_t i = 0;
  for (; i + sizeof(word) <= size; i += sizeof(word)) {
    word = words.Next();
    difference |= Load(bytes + i) ^ word;
  }
  const size_t tail = size - i;
  if (tail == 0) return difference;
  const uint64_t last = words.Next();
  if (size < sizeof(word)) {
    return static_cast<uint64_t>(std::memcmp(bytes, &last, size) != 0);
  }
  // Compares eight bytes that end at `size`, so as not to read past the value.
  const uint64_t expected =
      word >> (8 * tail) | last << (64 - 8 * tail);
  return difference | (Load(bytes + size - sizeof(word)) ^ expected);
}

// Zero if the bytes repeat with this period.
uint64_t DifferenceFromRepeat(const char* bytes, size_t period, size_t size) {
  uint64_t difference = 0;
  size_t i = period;
  for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    difference |= Load(bytes + i) ^ Load(bytes + i - period);
  }
  for (; i < size; ++i) {
    difference |= static_cast<uint64_t>(bytes[i] != bytes[i - period]);
  }
  return difference;
}

}  // namespace

Values::Values(uint64_t seed, size_t value_size, double compression_ratio)
    : seed_a_(StreamSeed(seed, "values", 0)),
      seed_b_(StreamSeed(seed, "values", 1)),
      value_size_(value_size),
      random_bytes_(std::max(
          size_t{1}, static_cast<size_t>(kPiece * compression_ratio))) {}

void Values::Write(uint64_t key, uint32_t version, char* buffer) const {
  Words words(Base(key, version));
  for (size_t start = 0; start < value_size_; start += kPiece) {
    char* const piece = buffer + start;
    const size_t size = std::min(kPiece, value_size_ - start);
    const size_t random_bytes = std::min(random_bytes_, size);
    for (size_t i = 0; i < random_bytes; i += sizeof(uint64_t)) {
      Store(piece + i, words.Next());
    }
    Repeat(piece, random_bytes, size);
  }
}

bool Values::Matches(uint64_t key, uint32_t version,
                     std::string_view value) const {
  if (value.size() != value_size_) return false;
  Words words(Base(key, version));
  uint64_t difference = 0;
  for (size_t start = 0; start < value_size_; start += kPiece) {
    const char* const piece = value.data() + start;
    const size_t size = std::min(kPiece, value_size_ - start);
    const size_t random_bytes = std::min(random_bytes_, size);
    difference |= DifferenceFromWords(piece, random_bytes, words);
    difference |= DifferenceFromRepeat(piece, random_bytes, size);
  }
  return difference == 0;
}

}  // namespace kvmatrix
