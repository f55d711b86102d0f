#include "common/keys.h"

namespace kvmatrix {

std::optional<uint64_t> ParseKey(std::string_view key, size_t key_size) {
  if (key.size() != key_size) return std::nullopt;
  const size_t padding = key_size - kKeyDigits;
  uint64_t index = 0;
  unsigned wrong = 0;
  for (size_t i = 0; i < padding; ++i) wrong |= key[i] != '0';
  for (size_t i = padding; i < key_size; ++i) {
    const unsigned digit = static_cast<unsigned char>(key[i]) - unsigned{'0'};
    wrong |= digit > 9;
    index = index * 10 + digit;
  }
  if (wrong) return std::nullopt;
  return index;
}

}  // namespace kvmatrix
