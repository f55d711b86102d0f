// Times the loop of one benchmark, call by call or as a whole.

#ifndef COMMON_TIMING_METER_H_
#define COMMON_TIMING_METER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "common/recording/histogram.h"
#include "common/recording/tick_histogram.h"
#include "common/recording/timeline.h"
#include "common/timing/clock.h"
#include "common/timing/losses.h"
#include "common/timing/open_loop.h"
#include "common/timing/progress.h"
#include "common/timing/start_gate.h"

namespace kvmatrix {

// The course of a loop, or of the loops of several threads together.
struct LoopTrace {
  bool truncated = false;      // the time limit or a failure ended the loop
  uint64_t first_call_ns = 0;  // from the start to the end of the first call
  Timeline timeline;
  Stalls stalls;  // periods in which every thread stalled
  // Per call: in an open loop from the intended start, otherwise the service
  // time.  `service` is set only for an open loop.  Neither is set if calls
  // were not timed, or if the open loop was saturated.
  std::optional<Histogram> latency;
  std::optional<Histogram> service;
  std::optional<OpenLoopFigures> open_loop;
};

// A loop calls the meter in this order:
//
//   Start();
//   while (...) {
//     prepare one call or a block of calls;
//     ExcludePreparation();
//     for each call:
//       if (!IsInTime(n)) break;
//       Begin(n);
//       the call on the engine, of n operations;
//       more = Continue(operations finished since Start());
//   }
//   StopNs(operations);
//
// The clock is read every 16 to 32 microseconds, for the timeline, the progress
// file and the time limit, which costs less than 1 % of the fastest loop.  It
// is read at each call only if Plan::latencies or an open loop requires it.
//
// Not thread-safe: each thread has a meter of its own.  Meters with a common
// StartGate start together.
class Meter {
 public:
  struct Plan {
    uint64_t duration_ns = 0;  // time limit of the loop; 0: none
    bool latencies = false;    // time each call
    // Mean rate of an open loop, or a share of scale_ops_per_sec; 0: closed
    // loop.
    double rate_ops_per_sec = 0;
    Arrivals arrivals{0};  // the open loop's schedule
    // What a rate that is a share multiplies, known when the loop starts: the
    // rate of each thread's warm-up.  Null: the rate is no share.
    const std::atomic<double>* scale_ops_per_sec = nullptr;
    Swing swing = {};           // variation of its rate
    StartGate* gate = nullptr;  // null: a single thread
  };

  // `clock`, `progress` and the gate outlive the meter.
  Meter(Clock& clock, Progress& progress, const Plan& plan);

  // Returns when the loop must start: at once, or when the gate opens.  Throws
  // std::runtime_error if another thread fails before that.
  void Start();

  // Called before a call of `operations` operations is prepared.  False if an
  // open loop has scheduled that call after the time limit, or is saturated;
  // the limit has then passed, and the loop must end.
  bool IsInTime(uint64_t operations) {
    return !open_loop_ || duration_ns_ == 0 || IsDueInTime(operations);
  }

  // Called after the next calls are prepared: their latencies leave the
  // preparation out.  The rate includes it.
  void ExcludePreparation() {
    if (latency_) stamp_ = Stamped();
  }

  // Called right before a call of `operations` operations; in an open loop,
  // waits until it is due.  Throws std::runtime_error if another thread fails
  // meanwhile.
  void Begin(uint64_t operations) {
    if (open_loop_) Await(operations);
  }

  // Called right after a call, with the operations completed since Start().
  // False if the loop must end.  Inlined, because a function call costs one or
  // two of the thirty cycles of one iteration of the fastest loop.
  [[gnu::always_inline]] bool Continue(uint64_t operations) {
    if (latency_) {
      Stamp();
    } else if (open_loop_) {
      open_loop_->Finish();
    }
    return operations < next_check_ || CheckClock(operations);
  }

  // Continue() only returns true for fewer operations than this.
  uint64_t next_check() const { return times_calls() ? 0 : next_check_; }

  // True if the time limit or the failure of another thread ended the loop.
  bool expired() const { return expired_; }

  // The moment at which Start() returned, by Clock::NowNs().
  uint64_t start_ns() const { return start_ns_; }

  // Ends the loop and returns its duration.  With 0 operations the loop timed a
  // single call that is not an operation, and has no timeline.
  uint64_t StopNs(uint64_t operations);

  // True if each call is timed.  last_call() is then the time of the last one,
  // in the unit that ToHistogram() converts: ticks, or nanoseconds in an open
  // loop.
  bool times_calls() const { return latency_ || open_loop_; }
  uint64_t last_call() const {
    return open_loop_ ? open_loop_->last_ns() : last_ticks_;
  }
  Histogram ToHistogram(const TickHistogram& calls) const {
    return Histogram(calls, open_loop_ ? 1 : clock_.NsPerTick());
  }

  // Returns what the process used and lost from Start() to StopNs(); with
  // several threads until the last one stopped.
  const Usage& usage() const { return gate_ ? gate_->usage() : usage_; }

  // See LoopTrace.
  std::optional<Histogram> Latency() const;

  std::optional<Histogram> Service() const;

  std::optional<OpenLoopFigures> OpenLoopResult() const;

  // Combines meters that were started together with equal plans.  REQUIRES: all
  // have stopped; at least one
  static LoopTrace Combine(std::span<const Meter* const> meters);

 private:
  // The fence of an ordered reading costs about 8 ns: much compared with a call
  // that is as short as the reading itself, little compared with any other.
  static constexpr uint64_t kShortTicks = 128;

  // The reading that ends one call begins the next.  After a short call it is
  // not ordered.  If it then misses the end of a long call, that time is
  // counted in the following call, whose reading is ordered.
  uint64_t Stamped() { return clock_.Ticks(last_ticks_ >= kShortTicks); }

  void Stamp() {
    const uint64_t now = Stamped();
    last_ticks_ = now - stamp_;
    stamp_ = now;
    latency_->Add(last_ticks_);
  }

  void Merge(const Meter& other);
  void Await(uint64_t operations);
  bool IsDueInTime(uint64_t operations);
  bool WaitUntil(uint64_t ns);
  bool CheckClock(uint64_t operations);
  void Record(uint64_t elapsed_ns, uint64_t operations);

  Clock& clock_;
  Progress& progress_;
  const uint64_t duration_ns_;
  const std::atomic<double>* const scale_ops_per_sec_;
  StartGate* const gate_;
  std::optional<TickHistogram> latency_;
  std::optional<OpenLoop> open_loop_;
  bool expired_ = false;
  Usage before_;
  Usage usage_;
  uint64_t start_ns_ = 0;
  uint64_t stamp_ = 0;          // ticks at the end of the last call
  uint64_t last_ticks_ = 0;     // of the last call
  uint64_t last_check_ns_ = 0;  // of the clock, since Start()
  uint64_t last_count_ = 0;     // operations at the last check
  uint64_t last_idle_ns_ = 0;   // of the open loop at the last check
  uint64_t stride_ = 1;         // operations between two checks
  uint64_t next_check_ = 1;
  uint64_t first_call_ns_ = 0;  // the first check of the clock
  Timeline timeline_;
  Stalls stalls_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_METER_H_
