// A clock that stands still between readings unless it is told otherwise.

#ifndef TESTS_FAKE_CLOCK_H_
#define TESTS_FAKE_CLOCK_H_

#include "common/clock.h"

namespace kvmatrix {

class FakeClock final : public Clock {
 public:
  uint64_t NowNs() override {
    ++readings;
    return now_ns += step_ns;
  }

  uint64_t now_ns = 0;
  uint64_t step_ns = 0;  // by which each reading moves the time on
  uint64_t readings = 0;
};

}  // namespace kvmatrix

#endif  // TESTS_FAKE_CLOCK_H_
