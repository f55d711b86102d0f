#include "common/stream/leveldb_pool.h"

#include <algorithm>

#include "common/random/leveldb_random.h"

namespace kvmatrix {

LevelDbPool::LevelDbPool(double compression_ratio) {
  constexpr size_t kPoolBytes = 1 << 20;
  constexpr size_t kFragment = 100;
  constexpr uint32_t kPrintable = 95;  // from ' ' to '~'
  const size_t raw =
      std::max(size_t{1}, static_cast<size_t>(kFragment * compression_ratio));
  LevelDbRandom random(301);
  bytes_.reserve(kPoolBytes + kFragment);
  while (bytes_.size() < kPoolBytes) {
    const size_t start = bytes_.size();
    for (size_t i = 0; i < raw; ++i) {
      bytes_.push_back(static_cast<char>(' ' + random.Uniform(kPrintable)));
    }
    for (size_t i = raw; i < kFragment; ++i) {
      bytes_.push_back(bytes_[start + i % raw]);
    }
  }
}

}  // namespace kvmatrix
