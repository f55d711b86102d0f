// Operations of a mix: a benchmark in which the type of each operation is drawn
// at random.

#ifndef COMMON_MIXES_MIX_H_
#define COMMON_MIXES_MIX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/random/random.h"

namespace kvmatrix {

// The first five have the names of YCSB, the others those of mixgraph.
enum class Operation {
  kRead,             // get
  kUpdate,           // get and put, or a blind put; see Mix::UpdatesGet()
  kInsert,           // put a key that was never present
  kScan,             // forward from a key
  kReadModifyWrite,  // get, then put
  kGet,
  kPut,   // blind
  kSeek,  // a scan
};
inline constexpr size_t kOperations = 8;

std::string_view OperationName(Operation operation);

// The share of each Operation; not negative, with sum 1.
using Weights = std::array<double, kOperations>;

// Draws types from a random stream of its own, so that the type of an operation
// is independent of its key.  Not thread-safe.
class OperationChooser {
 public:
  OperationChooser(const Weights& weights, uint64_t stream_seed);

  // Returns the next type.  Compares integers: types are drawn from [0, 2^63),
  // and `ends_` has the upper end of each type's part.
  Operation Next() {
    const uint64_t draw = random_.Next() >> 1;
    size_t type = 0;
    while (draw >= ends_[type]) ++type;
    return static_cast<Operation>(type);
  }

 private:
  // In units of 2^-63.
  std::array<uint64_t, kOperations> ends_;
  Random random_;
};

// One operation of a mix, before it is performed.
struct MixStep {
  Operation operation;
  uint64_t key;
  uint64_t scan_length = 0;                 // entries that a scan visits
  std::optional<uint64_t> value_size = {};  // bytes; none: Values::SizeOf()
};

// True if the operation writes its key.
constexpr bool Puts(Operation operation) {
  return operation == Operation::kUpdate || operation == Operation::kInsert ||
         operation == Operation::kReadModifyWrite ||
         operation == Operation::kPut;
}

// True if the operation is a scan.
constexpr bool Scans(Operation operation) {
  return operation == Operation::kScan || operation == Operation::kSeek;
}

// The operations of one thread.  Not thread-safe, but streams of several
// threads may share state that is.
class MixStream {
 public:
  virtual ~MixStream() = default;

  // Returns the next operation.
  virtual MixStep Next() = 0;

  // Called when the operation has been performed, so that an inserted record
  // becomes visible to all streams.
  virtual void Done(const MixStep& step) { static_cast<void>(step); }
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIX_H_
