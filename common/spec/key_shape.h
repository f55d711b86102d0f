// The shape of the keys of a database: size and format.  stream/keys.h writes
// and parses such keys.

#ifndef COMMON_SPEC_KEY_SHAPE_H_
#define COMMON_SPEC_KEY_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kvmatrix {

// Digits in which a decimal key holds its index; a longer key has more zeros in
// front.  16 is the size of db_bench's keys.  kMaxKeys is the number of indexes
// that fit: 10^16.
inline constexpr size_t kKeyDigits = 16;
inline constexpr uint64_t kMaxKeys = 10'000'000'000'000'000;

// How the index of an entry becomes bytes; set by --key_format.
enum class KeyFormat {
  kDecimal,  // ASCII digits, zeros in front, as in db_bench
  kBig,      // 8 bytes, most significant first, zero bytes in front
  kLittle,   // 8 bytes, least significant first, zero bytes behind: the
             // bytewise order of such keys is not that of their indexes
};

// Returns "decimal", "big" or "little".
std::string_view KeyFormatName(KeyFormat format);

// Size and format of all keys of a database.  All keys have one size, so no key
// is a prefix of another, and a longer or a shorter key is always absent.  A
// value type; thread-safe.  Config::key_shape() is that of a run.
class KeyShape {
 public:
  // Limits of --key_size.  An integer of 8 bytes must fit.
  static constexpr size_t kSmallest = 8;  // bytes
  static constexpr size_t kLargest = 1024;

  // A size alone is a decimal shape.  REQUIRES: kSmallest <= size <= kLargest
  // NOLINTNEXTLINE(google-explicit-constructor): a size is a decimal shape
  constexpr KeyShape(size_t size, KeyFormat format = KeyFormat::kDecimal)
      : size_(size), format_(format) {}

  constexpr size_t size() const { return size_; }
  constexpr KeyFormat format() const { return format_; }

  // True if the bytewise order of keys is the order of their indexes.
  constexpr bool ordered() const { return format_ != KeyFormat::kLittle; }

  // Returns the number of indexes that have a key: 0 to capacity() - 1.  At
  // most kMaxKeys in every format, so that an index can always be written as
  // kKeyDigits digits.
  constexpr uint64_t capacity() const {
    uint64_t keys = 1;
    if (format_ != KeyFormat::kDecimal) return kMaxKeys;
    for (size_t i = 0; i < size_ && keys < kMaxKeys; ++i) keys *= 10;
    return keys;
  }

  // The byte that fills a key up to its size.  Memory for keys is filled with
  // it before KeyWriter writes there.
  constexpr char pad() const {
    return format_ == KeyFormat::kDecimal ? '0' : '\0';
  }

 private:
  size_t size_;
  KeyFormat format_;
};

}  // namespace kvmatrix

#endif  // COMMON_SPEC_KEY_SHAPE_H_
