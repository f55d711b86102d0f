// How the keys of a database look.

#ifndef COMMON_SPEC_KEY_SHAPE_H_
#define COMMON_SPEC_KEY_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kvmatrix {

// Digits in which an index is written; a longer key has more zeros in front.
inline constexpr size_t kKeyDigits = 16;
inline constexpr uint64_t kMaxKeys = 10'000'000'000'000'000;

enum class KeyFormat {
  kDecimal,  // digits, as in db_bench, with zeros in front
  kBig,      // 8 bytes, the highest first, with zero bytes in front
  kLittle,   // 8 bytes, the lowest first, with zero bytes behind: the order of
             // such keys as bytes is not that of their indexes
};

// "decimal", "big" or "little".
std::string_view KeyFormatName(KeyFormat format);

// How all keys of a database look.  No key is a prefix of another, so that a
// longer or shorter one is always absent.
class KeyShape {
 public:
  static constexpr size_t kSmallest = 8;  // bytes
  static constexpr size_t kLargest = 1024;

  // REQUIRES: kSmallest <= size <= kLargest
  // NOLINTNEXTLINE(google-explicit-constructor): a size is a decimal shape
  constexpr KeyShape(size_t size, KeyFormat format = KeyFormat::kDecimal)
      : size_(size), format_(format) {}

  constexpr size_t size() const { return size_; }
  constexpr KeyFormat format() const { return format_; }

  // True if the keys in byte order are the indexes in their order.
  constexpr bool ordered() const { return format_ != KeyFormat::kLittle; }

  // Indexes below this have a key.
  constexpr uint64_t capacity() const {
    uint64_t keys = 1;
    if (format_ != KeyFormat::kDecimal) return kMaxKeys;
    for (size_t i = 0; i < size_ && keys < kMaxKeys; ++i) keys *= 10;
    return keys;
  }

  // The byte that fills a key up.
  constexpr char pad() const {
    return format_ == KeyFormat::kDecimal ? '0' : '\0';
  }

 private:
  size_t size_;
  KeyFormat format_;
};

}  // namespace kvmatrix

#endif  // COMMON_SPEC_KEY_SHAPE_H_
