// Times the loop of one benchmark, and counts what it uses.

#ifndef COMMON_METER_H_
#define COMMON_METER_H_

#include <cstdint>
#include <limits>

#include "common/clock.h"
#include "common/histogram.h"
#include "common/progress.h"
#include "common/resources.h"

namespace kvmatrix {

// Reads the clock when the loop starts and when it ends.  Between those it
// reads it per call only if there is a histogram, and some hundred times a
// second if somebody watches the progress or a time limit was set.
class Meter {
 public:
  // `duration_ns`: the loop is to end after that time; 0: no limit.
  // `histogram` receives the time of each Continue(), or is null.
  Meter(Clock& clock, Progress& progress, uint64_t duration_ns,
        Histogram* histogram)
      : clock_(clock),
        progress_(progress),
        duration_ns_(duration_ns),
        histogram_(histogram) {}

  void Start() {
    before_ = Resources::Now();
    start_ns_ = last_ns_ = clock_.NowNs();
    next_look_ = duration_ns_ > 0 || progress_.watched()
                     ? 1
                     : std::numeric_limits<uint64_t>::max();
  }

  // To be called after each call on the engine, with the operations finished
  // since Start().  False once the loop has to end.
  bool Continue(uint64_t operations) {
    if (histogram_ != nullptr) Record();
    return operations < next_look_ || Look(operations);
  }

  // True if Continue() ended the loop.
  bool expired() const { return expired_; }

  // Ends the loop and returns its duration.
  uint64_t StopNs() {
    const uint64_t loop_ns = clock_.NowNs() - start_ns_;
    used_ = Resources::Now().Since(before_);
    return loop_ns;
  }

  // What the loop that has ended used.
  const Resources& used() const { return used_; }

 private:
  void Record() {
    const uint64_t now_ns = clock_.NowNs();
    histogram_->Add(now_ns - last_ns_);
    last_ns_ = now_ns;
  }

  bool Look(uint64_t operations);

  Clock& clock_;
  Progress& progress_;
  const uint64_t duration_ns_;
  Histogram* const histogram_;
  bool expired_ = false;
  Resources before_;
  Resources used_;
  uint64_t start_ns_ = 0;
  uint64_t last_ns_ = 0;       // of the last Record()
  uint64_t last_look_ns_ = 0;  // of the last Look(), since Start()
  uint64_t stride_ = 1;        // operations between two looks
  uint64_t next_look_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_METER_H_
