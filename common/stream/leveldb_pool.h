// The values of LevelDB's db_bench: windows of one pool of bytes.

#ifndef COMMON_STREAM_LEVELDB_POOL_H_
#define COMMON_STREAM_LEVELDB_POOL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kvmatrix {

// A mebibyte or a little more in fragments of 100 bytes.  A fragment is
// printable random characters, 100 * compression_ratio of them and at least
// one, repeated and cut to 100 bytes; the generator starts with seed 301.  As
// RandomGenerator of LevelDB 1.23's benchmarks/db_bench.cc and
// CompressibleString of its util/testutil.cc.
class LevelDbPool {
 public:
  // REQUIRES: 0 <= compression_ratio <= 1
  explicit LevelDbPool(double compression_ratio);

  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Where the values of one benchmark lie in the pool: one behind another, and
// from the beginning again when the rest is too short for a value.
class PoolWindows {
 public:
  explicit PoolWindows(size_t pool_size) : pool_size_(pool_size) {}

  // The offset of the next `size` bytes.  REQUIRES: size < pool_size
  size_t Next(size_t size) {
    if (position_ + size > pool_size_) position_ = 0;
    position_ += size;
    return position_ - size;
  }

 private:
  size_t pool_size_;
  size_t position_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_LEVELDB_POOL_H_
