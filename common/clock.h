// The only place where the harness reads a clock.

#ifndef COMMON_CLOCK_H_
#define COMMON_CLOCK_H_

#include <cstdint>

namespace kvmatrix {

// Monotonic time.  Tests put their own in place.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds since some fixed moment.
  virtual uint64_t NowNs() = 0;
};

// CLOCK_MONOTONIC.
class SteadyClock final : public Clock {
 public:
  uint64_t NowNs() override;
};

}  // namespace kvmatrix

#endif  // COMMON_CLOCK_H_
