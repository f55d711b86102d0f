// A common start and a common end of the loops of several threads.

#ifndef COMMON_TIMING_START_GATE_H_
#define COMMON_TIMING_START_GATE_H_

#include <cstdint>

#include "common/timing/losses.h"

namespace kvmatrix {

// What the meter of one thread needs to know about the others.
// loops/thread_group.h implements it; the interface keeps timing/ free of
// threads.  Thread-safe.
class StartGate {
 public:
  virtual ~StartGate() = default;

  // Waits until all threads are ready and returns their common start time.
  // Throws std::runtime_error if another thread fails first.
  virtual uint64_t Start() = 0;

  // Records that the caller's loop has ended.
  virtual void Finish() = 0;

  // True once another thread has failed; the caller's loop must then end.
  virtual bool failed() const = 0;

  // Returns what the process used and lost from the start until the last loop
  // ended.
  // REQUIRES: all loops have ended
  virtual const Usage& usage() const = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_START_GATE_H_
