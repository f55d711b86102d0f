// Mixes: benchmarks whose every operation is of a type drawn by chance.

#ifndef COMMON_MIXES_MIX_H_
#define COMMON_MIXES_MIX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/random/random.h"

namespace kvmatrix {

// Under YCSB's names the first five, under mixgraph's the rest.
enum class Operation {
  kRead,             // get
  kUpdate,           // of one field: get, then put the record; or a blind put
  kInsert,           // put a key that was never there
  kScan,             // from a key on
  kReadModifyWrite,  // get, then put
  kGet,
  kPut,   // blind
  kSeek,  // a scan
};
inline constexpr size_t kOperations = 8;

std::string_view OperationName(Operation operation);

// Of each Operation, its share of all; not negative, and sums to 1.
using Weights = std::array<double, kOperations>;

// Draws types from a stream of its own, so that what is done says nothing about
// the key it is done to.
class OperationChooser {
 public:
  OperationChooser(const Weights& weights, uint64_t stream_seed);

  Operation Next() {
    const uint64_t draw = random_.Next() >> 1;
    size_t type = 0;
    while (draw >= ends_[type]) ++type;
    return static_cast<Operation>(type);
  }

 private:
  // In units of 2^-63 where each type's part of [0, 1) ends.
  std::array<uint64_t, kOperations> ends_;
  Random random_;
};

// One operation of a mix, before it is done.
struct MixStep {
  Operation operation;
  uint64_t key;
  uint64_t scan_length = 0;                 // entries to visit, of a scan
  std::optional<uint64_t> value_size = {};  // bytes; none: as all values have
};

constexpr bool Puts(Operation operation) {
  return operation == Operation::kUpdate || operation == Operation::kInsert ||
         operation == Operation::kReadModifyWrite ||
         operation == Operation::kPut;
}

constexpr bool Scans(Operation operation) {
  return operation == Operation::kScan || operation == Operation::kSeek;
}

// The operations of one thread.  Not thread-safe; what several threads share
// is.
class MixStream {
 public:
  virtual ~MixStream() = default;

  virtual MixStep Next() = 0;

  // The step has been done: an insert is there for all to read.
  virtual void Done(const MixStep& step) { static_cast<void>(step); }
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIX_H_
