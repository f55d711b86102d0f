// A common start and end of the loops of several threads, as each one's meter
// needs them.

#ifndef COMMON_TIMING_START_GATE_H_
#define COMMON_TIMING_START_GATE_H_

#include <cstdint>

#include "common/timing/resources.h"

namespace kvmatrix {

class StartGate {
 public:
  virtual ~StartGate() = default;

  // Returns when the loop has to start, with the time of that moment.  Throws
  // std::runtime_error if another thread has failed.
  virtual uint64_t Start() = 0;

  // The loop has ended.
  virtual void Finish() = 0;

  // True once another thread has failed: the loop is to end.
  virtual bool failed() const = 0;

  // What the process used from the start until the last loop ended.
  virtual const Resources& used() const = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_START_GATE_H_
