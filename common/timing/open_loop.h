// An open loop: calls that start when they are due, whether or not the engine
// keeps up.

#ifndef COMMON_TIMING_OPEN_LOOP_H_
#define COMMON_TIMING_OPEN_LOOP_H_

#include <cmath>
#include <cstdint>

#include "common/random/random.h"
#include "common/recording/tick_histogram.h"
#include "common/timing/clock.h"

namespace kvmatrix {

// The gaps of a Poisson process with one event per unit of time on average.
class Arrivals {
 public:
  explicit Arrivals(uint64_t stream_seed) : random_(stream_seed) {}

  // Returns the time to the next event: exponentially distributed with mean 1,
  // by inversion.
  double NextGap() {
    constexpr double kUnit = 0x1p-53;
    return -std::log1p(-static_cast<double>(random_.Next() >> 11) * kUnit);
  }

 private:
  Random random_;
};

// How well the loop kept to its schedule.
struct OpenLoopFigures {
  double rate_ops_per_sec = 0;      // requested
  double offered_ops_per_sec = 0;   // of the schedule up to its last call
  double achieved_ops_per_sec = 0;  // until the last call ended
  uint64_t late_starts = 0;  // calls that were due before the last one ended
  uint64_t max_lag_ns = 0;   // largest delay of a start

  // True if the engine cannot sustain the rate.  Latencies then grow with the
  // duration of the loop and say nothing else.
  bool saturated() const {
    return achieved_ops_per_sec < 0.99 * offered_ops_per_sec;
  }
};

// A rate that oscillates about its mean: after t seconds it is multiplied by 1
// + amplitude sin(radians_per_s t + phase).  The factor is held for an interval
// at a time.
struct Swing {
  double amplitude = 0;  // 0: a constant rate
  double radians_per_s = 0;
  double phase = 0;
  uint64_t interval_ns = 1;

  // Returns the factor `ns` after the start.
  double At(double ns) const {
    if (amplitude == 0) return 1;
    constexpr double kSecondsPerNs = 1e-9;
    const auto interval = static_cast<double>(interval_ns);
    const double seconds = std::floor(ns / interval) * interval * kSecondsPerNs;
    return 1 + amplitude * std::sin(radians_per_s * seconds + phase);
  }
};

// One schedule, fixed by rate and seed before the loop starts.  A call that is
// delayed by a slow predecessor keeps its intended start, and the delay is part
// of its latency: no coordinated omission.
//
// Not thread-safe: each thread has a schedule with its share of the rate.
class OpenLoop {
 public:
  OpenLoop(Clock& clock, double rate_ops_per_sec, uint64_t stream_seed,
           const Swing& swing = {})
      : clock_(clock),
        rate_ops_per_sec_(rate_ops_per_sec),
        swing_(swing),
        arrivals_(stream_seed),
        gap_(arrivals_.NextGap()) {}

  // Starts the schedule at `start_ns` of the clock.
  void Start(uint64_t start_ns) { start_ns_ = ended_ns_ = start_ns; }

  // Returns when the next call must start if it consists of `operations`
  // operations.
  uint64_t DueNs(uint64_t operations) const {
    return start_ns_ + static_cast<uint64_t>(NextScheduleNs(operations));
  }

  // No further call follows, and none was due before `ns`.
  void Idle(uint64_t ns) { idle_ns_ += ns > ended_ns_ ? ns - ended_ns_ : 0; }

  // Waits until the next call, of `operations` operations, must start.
  void Await(uint64_t operations);

  // Records that the call has ended.
  void Finish();

  // Returns the time of the last call from its intended start.
  uint64_t last_ns() const { return ended_ns_ - intended_ns_; }

  // In nanoseconds, from the intended and from the actual start of each call.
  const TickHistogram& latency() const { return latency_; }
  const TickHistogram& service() const { return service_; }

  // Returns the total time in which no call was due.
  uint64_t idle_ns() const { return idle_ns_; }

  OpenLoopFigures Figures() const;

  // Adds the calls of another loop that started at the same moment.
  void Merge(const OpenLoop& other);

 private:
  double NextScheduleNs(uint64_t operations) const;

  Clock& clock_;
  double rate_ops_per_sec_;
  const Swing swing_;
  Arrivals arrivals_;
  double gap_;              // to the next call, by one operation
  double schedule_ns_ = 0;  // of the call, since the start
  uint64_t start_ns_ = 0;
  uint64_t intended_ns_ = 0;
  uint64_t began_ns_ = 0;
  uint64_t ended_ns_ = 0;
  uint64_t idle_ns_ = 0;
  uint64_t operations_ = 0;
  uint64_t late_starts_ = 0;
  uint64_t max_lag_ns_ = 0;
  TickHistogram latency_;
  TickHistogram service_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_OPEN_LOOP_H_
