// Operations of a mix: a benchmark in which the type of each operation is drawn
// at random.
//
// Plain data and the interface of a stream of operations; mix_workload.h has
// the benchmark as a whole, loops/mix_loop.h performs the operations.

#ifndef COMMON_MIXES_MIX_H_
#define COMMON_MIXES_MIX_H_

#include <array>
#include <cstdint>
#include <optional>

#include "common/random/random.h"
#include "common/spec/operation.h"

namespace kvmatrix {

// Draws types from a random stream of its own, so that the type of an operation
// is independent of its key.  Not thread-safe.
class OperationChooser {
 public:
  // A type with weight 0 is never drawn.  A sum that rounding leaves slightly
  // below 1 is tolerated.
  // REQUIRES: `weights` has sum 1
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

// One operation of a mix, before it is performed: plain data, valid on its own.
struct MixStep {
  Operation operation;
  uint64_t key;  // index of the key; of a scan, where it starts
  // Entries that a scan visits at most.  0 still visits the first one.
  uint64_t scan_length = 0;
  std::optional<uint64_t> value_size = {};  // bytes; none: Values::SizeOf()
};

// True if the operation puts a value under its key.
constexpr bool Puts(Operation operation) {
  return operation == Operation::kUpdate || operation == Operation::kInsert ||
         operation == Operation::kReadModifyWrite ||
         operation == Operation::kPut;
}

// True if the operation writes its key: it puts a value, or deletes the key.
constexpr bool Writes(Operation operation) {
  return Puts(operation) || operation == Operation::kDelete;
}

// True if the operation is a scan.
constexpr bool Scans(Operation operation) {
  return operation == Operation::kScan || operation == Operation::kSeek ||
         operation == Operation::kScanReverse;
}

// The operations of one thread.  Mix::NewStream() makes it, and the mix
// outlives it.
//
//   while (...) {
//     const MixStep step = stream->Next();
//     ... perform the step ...
//     stream->Done(step);
//   }
//
// Not thread-safe: each thread has its own.  Streams of several threads may
// share state that is.
class MixStream {
 public:
  virtual ~MixStream() = default;

  // Returns the next operation.  The stream has no end.  Called in the loop,
  // before the time of the call: implementations allocate nothing.  Throws
  // std::runtime_error if there is no key left for an insert.
  virtual MixStep Next() = 0;

  // Called when the operation has been performed, so that an inserted record
  // becomes visible to all streams.  May be left out for operations that do not
  // put.
  // REQUIRES: `step` is the last one that Next() returned, and its put is
  // recorded in the oracle
  virtual void Done(const MixStep& step) { static_cast<void>(step); }
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIX_H_
