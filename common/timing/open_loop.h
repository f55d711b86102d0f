// Calls that begin when they are due, whether or not the engine keeps up.

#ifndef COMMON_TIMING_OPEN_LOOP_H_
#define COMMON_TIMING_OPEN_LOOP_H_

#include <cmath>
#include <cstdint>

#include "common/random/random.h"
#include "common/recording/tick_histogram.h"
#include "common/timing/clock.h"

namespace kvmatrix {

// Moments of a Poisson process with one event per unit of time on average.
class Arrivals {
 public:
  explicit Arrivals(uint64_t stream_seed) : random_(stream_seed) {}

  // The time from one event to the next: exponential with mean 1.
  double NextGap() {
    constexpr double kUnit = 0x1p-53;
    return -std::log1p(-static_cast<double>(random_.Next() >> 11) * kUnit);
  }

 private:
  Random random_;
};

// How the loop kept to its schedule.
struct OpenLoopFigures {
  double rate_ops_per_sec = 0;      // asked for
  double offered_ops_per_sec = 0;   // by the schedule, until its last call
  double achieved_ops_per_sec = 0;  // until the last call ended
  uint64_t late_starts = 0;  // calls that waited for the one before to end
  uint64_t max_lag_ns = 0;   // of a start behind the schedule

  // The engine cannot do what was asked: latencies would only show how long
  // the loop ran.
  bool saturated() const {
    return achieved_ops_per_sec < 0.99 * offered_ops_per_sec;
  }
};

// A rate that swings about its mean: times 1 + part sin(radians_per_s t +
// phase) after t seconds, and kept for an interval.
struct Swing {
  double amplitude = 0;  // 0: it does not
  double radians_per_s = 0;
  double phase = 0;
  uint64_t interval_ns = 1;

  // The factor so long after the start.
  double At(double ns) const {
    if (amplitude == 0) return 1;
    constexpr double kSecondsPerNs = 1e-9;
    const auto interval = static_cast<double>(interval_ns);
    const double seconds = std::floor(ns / interval) * interval * kSecondsPerNs;
    return 1 + amplitude * std::sin(radians_per_s * seconds + phase);
  }
};

// One schedule, fixed by rate and seed: what a slow call delays is late against
// it, and the time that it waits counts (no coordinated omission).
class OpenLoop {
 public:
  OpenLoop(Clock& clock, double rate_ops_per_sec, uint64_t stream_seed,
           const Swing& swing = {})
      : clock_(clock),
        rate_ops_per_sec_(rate_ops_per_sec),
        swing_(swing),
        arrivals_(stream_seed),
        gap_(arrivals_.NextGap()) {}

  void Start(uint64_t start_ns) { start_ns_ = ended_ns_ = start_ns; }

  // When the next call has to begin, if it is of so many operations.
  uint64_t DueNs(uint64_t operations) const {
    return start_ns_ + static_cast<uint64_t>(NextScheduleNs(operations));
  }

  // No call follows, and until `ns` none was due.
  void Idle(uint64_t ns) { idle_ns_ += ns > ended_ns_ ? ns - ended_ns_ : 0; }

  // Returns when the next call, of so many operations, has to begin.
  void Await(uint64_t operations);

  // The call has ended.
  void Finish();

  // Of the last call, from its intended start.
  uint64_t last_ns() const { return ended_ns_ - intended_ns_; }

  // Nanoseconds, from the intended start of a call and from its actual one.
  const TickHistogram& latency() const { return latency_; }
  const TickHistogram& service() const { return service_; }

  // Time in which no call was due.
  uint64_t idle_ns() const { return idle_ns_; }

  OpenLoopFigures Figures() const;

  // Adds what another loop has done since the same start.
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
