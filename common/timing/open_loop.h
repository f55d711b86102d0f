// An open loop: calls that start when they are due, whether or not the engine
// keeps up.
//
// The meter uses an OpenLoop in place of its histogram of ticks if --rate or
// --sine_mix_rate is given.

#ifndef COMMON_TIMING_OPEN_LOOP_H_
#define COMMON_TIMING_OPEN_LOOP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "common/random/random.h"
#include "common/random/thread_share.h"
#include "common/recording/tick_histogram.h"
#include "common/timing/clock.h"

namespace kvmatrix {

// The gaps of a thread's part of a Poisson process that all threads share, in
// units in which the thread has one event on average.  A function of the
// stream's seed and of the thread.  Not thread-safe.
//
// The process is cut into blocks of as many events as there are threads, one of
// each.  The length of a block, a sum of that many exponential gaps, comes from
// a stream that all threads have in common.  The last event is at its end, and
// those before it are, as in any Poisson process, uniform within it and
// independent.  So no thread needs to know the others' events, the events of
// all threads are exactly a Poisson process, and threads with as many events
// end within the same block.
class Arrivals {
 public:
  explicit Arrivals(uint64_t stream_seed, const ThreadShare& thread_share = {})
      : thread_share_(thread_share),
        own_(StreamSeed(thread_share.SeedOf(stream_seed), "arrivals", 0)),
        common_(StreamSeed(stream_seed, "arrivals", 0)) {}

  // Returns the time to the next event, with mean 1.  Each gap of a block is
  // from 0 to 36.8, since the number drawn has 53 bits.
  double NextGap() {
    if (thread_share_.threads == 1) return -std::log1p(-common_.Unit());
    double product = 1;
    for (uint64_t i = 0; i < thread_share_.threads; ++i) {
      product *= 1 - common_.Unit();
    }
    // Out of reach: the logarithm is as negative as there are threads, at most
    // 256, and this one is -693.
    constexpr double kLeast = 0x1p-1000;
    const double block = -std::log(std::max(product, kLeast)) /
                         static_cast<double>(thread_share_.threads);
    const bool is_last =
        blocks_++ % thread_share_.threads == thread_share_.thread;
    const double place = is_last ? block : own_.Unit() * block;
    return std::exchange(rest_, block - place) + place;
  }

 private:
  ThreadShare thread_share_;
  Random own_;
  Random common_;
  uint64_t blocks_ = 0;
  double rest_ = 0;  // from the last event to the end of its block
};

// How well the loop kept to its schedule.  Rates are in operations, the other
// fields are per call: a call may be a batch.
struct OpenLoopFigures {
  double rate_ops_per_sec = 0;      // requested
  double max_ops_per_sec = 0;       // see OpenLoop::ScaleRate(); 0: unknown
  double offered_ops_per_sec = 0;   // of the schedule up to its last call
  double achieved_ops_per_sec = 0;  // until the last call ended
  uint64_t late_starts = 0;  // calls that were due before the last one ended
  uint64_t max_lag_ns = 0;   // largest delay of a start

  // True if the engine cannot sustain the rate: it achieved less than 99 % of
  // it.  Latencies then grow with the duration of the loop and say nothing
  // else.
  static constexpr double kLeastAchieved = 0.99;
  bool saturated() const {
    return achieved_ops_per_sec < kLeastAchieved * offered_ops_per_sec;
  }
};

// A rate that oscillates about its mean: after t seconds it is multiplied by 1
// + amplitude sin(radians_per_s t + phase).  The factor is held for an interval
// at a time.  A value type.
// REQUIRES: |amplitude| < 1, interval_ns > 0
struct Swing {
  double amplitude = 0;  // 0: a constant rate
  double radians_per_s = 0;
  double phase = 0;          // radians
  uint64_t interval_ns = 1;  // between two changes of the factor

  // Returns the factor `ns` after the start, which is positive.
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
//   loop.Start(clock.NowNs());
//   while (loop.DueNs(n) < limit_ns && !loop.IsSaturatedBy(limit_ns)) {
//     loop.Await(n);
//     ... a call of n operations ...
//     loop.Finish();
//   }
//
// The clock is read two or more times per call.  Nothing is allocated after the
// construction.
//
// Not thread-safe: each thread has a loop with its share of the rate.
class OpenLoop {
 public:
  // `clock` outlives the loop.  `swing` varies the rate, which is its mean.
  // REQUIRES: rate_ops_per_sec > 0
  OpenLoop(Clock& clock, double rate_ops_per_sec, const Arrivals& arrivals,
           const Swing& swing = {})
      : clock_(clock),
        rate_ops_per_sec_(rate_ops_per_sec),
        swing_(swing),
        arrivals_(arrivals),
        gap_(arrivals_.NextGap()) {}

  // Multiplies the rate by `max_ops_per_sec`, of which it was a share: what the
  // thread's part of a closed loop has achieved.  Called before Start(), at
  // most once. REQUIRES: max_ops_per_sec > 0
  void ScaleRate(double max_ops_per_sec) {
    max_ops_per_sec_ = max_ops_per_sec;
    rate_ops_per_sec_ *= max_ops_per_sec;
  }

  // Starts the schedule at `start_ns` of the clock.  The first call is due a
  // gap later.  Called once, before all methods below.
  void Start(uint64_t start_ns) { start_ns_ = ended_ns_ = start_ns; }

  // Returns when the next call must start if it consists of `operations`
  // operations, by Clock::NowNs().  The gap before a call grows with its size,
  // so that the rate is one of operations.  A call that is due in more than 146
  // years is never due: after kNeverNs.
  uint64_t DueNs(uint64_t operations) const {
    const double due_ns = std::min(NextScheduleNs(operations), kNeverNs);
    return start_ns_ + static_cast<uint64_t>(due_ns);
  }

  // True if the loop is saturated whatever follows, as long as no later call is
  // due after `ns`: so much later did the last one end.
  bool IsSaturatedBy(uint64_t ns) const {
    return static_cast<double>(ended_ns_ - start_ns_) *
               OpenLoopFigures::kLeastAchieved >
           static_cast<double>(ns - start_ns_);
  }

  // No further call follows, and none was due before `ns`.
  void Idle(uint64_t ns) { idle_ns_ += ns > ended_ns_ ? ns - ended_ns_ : 0; }

  // Waits until the next call, of `operations` operations, must start.  Returns
  // at once if it is due already.
  // REQUIRES: the previous call has ended with Finish()
  void Await(uint64_t operations);

  // Records that the call has ended: its latency from the intended start, and
  // its service time from the actual one.
  void Finish();

  // Returns the time of the last call from its intended start, after Finish().
  uint64_t last_ns() const { return ended_ns_ - intended_ns_; }

  // In nanoseconds, from the intended and from the actual start of each call.
  const TickHistogram& latency() const { return latency_; }
  const TickHistogram& service() const { return service_; }

  // Returns the total time in which no call was due and none was running: the
  // meter leaves it out of the stalls.
  uint64_t idle_ns() const { return idle_ns_; }

  // Of the calls so far; the offered and the achieved rate are 0 if there are
  // none.
  OpenLoopFigures Figures() const;

  // Adds the calls of another loop that started at the same moment.  Afterwards
  // only latency(), service() and Figures() are meaningful.
  void Merge(const OpenLoop& other);

 private:
  static constexpr double kNeverNs = 0x1p62;

  // When the next call is due, in nanoseconds since the start.
  double NextScheduleNs(uint64_t operations) const;

  Clock& clock_;
  double rate_ops_per_sec_;
  double max_ops_per_sec_ = 0;
  const Swing swing_;
  Arrivals arrivals_;
  double gap_;              // to the next call, by one operation
  double schedule_ns_ = 0;  // of the call, since the start
  uint64_t start_ns_ = 0;
  uint64_t intended_ns_ = 0;  // start of the last call, by the schedule
  uint64_t began_ns_ = 0;     // its actual start
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
