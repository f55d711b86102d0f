// The values of LevelDB's db_bench: windows of one pool of random bytes.
//
// Only for replays of its stream and for its primitives; our own values
// (values.h) share no bytes.

#ifndef COMMON_STREAM_LEVELDB_POOL_H_
#define COMMON_STREAM_LEVELDB_POOL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kvmatrix {

// About one mebibyte, made of fragments of 100 bytes.  A fragment consists of
// printable random characters, 100 * compression_ratio of them and at least
// one, repeated up to 100 bytes.  The generator starts with seed 301.  The same
// bytes as RandomGenerator of LevelDB 1.23's benchmarks/db_bench.cc and
// CompressibleString of its util/testutil.cc.  Immutable.
class LevelDbPool {
 public:
  // REQUIRES: 0 <= compression_ratio <= 1
  explicit LevelDbPool(double compression_ratio);

  // Valid as long as the pool.  1,048,600 bytes: 2^20, rounded up to whole
  // fragments.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The positions of one benchmark's values in the pool: one after another,
// starting over at 0 when the rest of the pool is too short for a value, as
// RandomGenerator::Generate() does.  Holds no pool, only its size.  Not
// thread-safe.
class PoolWindows {
 public:
  explicit PoolWindows(size_t pool_size) : pool_size_(pool_size) {}

  // Returns the offset of the next `size` bytes.
  // REQUIRES: size < pool_size
  size_t Next(size_t size) {
    if (position_ + size > pool_size_) position_ = 0;
    position_ += size;
    return position_ - size;
  }

 private:
  size_t pool_size_;
  size_t position_ = 0;  // of the end of the last window
};

}  // namespace kvmatrix

#endif  // COMMON_STREAM_LEVELDB_POOL_H_
