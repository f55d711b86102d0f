// Times the loop of one benchmark, and counts what it uses.

#ifndef COMMON_TIMING_METER_H_
#define COMMON_TIMING_METER_H_

#include <cstdint>
#include <optional>
#include <span>

#include "common/recording/histogram.h"
#include "common/recording/tick_histogram.h"
#include "common/recording/timeline.h"
#include "common/timing/clock.h"
#include "common/timing/open_loop.h"
#include "common/timing/progress.h"
#include "common/timing/resources.h"
#include "common/timing/start_gate.h"

namespace kvmatrix {

// How a loop went, or the loops of several threads together.
struct LoopTrace {
  bool truncated = false;  // the time limit has ended one
  Timeline timeline;
  Stalls stalls;  // of all of them at once
  std::optional<Histogram> latency;
  std::optional<Histogram> service;
  std::optional<OpenLoopFigures> open_loop;
};

// Looks at the clock every ten microseconds or so: for the timeline, the
// progress and the time limit.  Reads it for each call only if latencies are
// asked for.
class Meter {
 public:
  struct Plan {
    uint64_t duration_ns = 0;     // after which the loop is to end; 0: never
    bool latencies = false;       // of each call
    double rate_ops_per_sec = 0;  // of an open loop; 0: closed loop
    uint64_t arrivals_seed = 0;   // of the open loop's stream
    Swing swing = {};             // of its rate
    StartGate* gate = nullptr;    // of several threads; null: there is one
  };

  // `clock`, `progress` and the gate outlive the meter.
  Meter(Clock& clock, Progress& progress, const Plan& plan);

  // Returns when the loop has to start, as the gate says if there is one.
  void Start();

  // To be called before each call on the engine, of so many operations, is made
  // ready.  False in an open loop if it is due after the time limit: the limit
  // has come then, and the loop has to end.
  bool IsInTime(uint64_t operations) {
    return !open_loop_ || duration_ns_ == 0 || IsDueInTime(operations);
  }

  // What the next calls need has been made ready; that time is none of theirs.
  void ExcludePreparation() {
    if (latency_) stamp_ = Stamped();
  }

  // To be called before each call on the engine, of so many operations.  Throws
  // std::runtime_error if another thread fails while it waits.
  void Begin(uint64_t operations) {
    if (open_loop_) Await(operations);
  }

  // To be called after each call, with the operations finished since Start().
  // False once the loop has to end.  Inlined, as a call costs a cycle or two of
  // the thirty that the fastest loop takes.
  [[gnu::always_inline]] bool Continue(uint64_t operations) {
    if (latency_) {
      Stamp();
    } else if (open_loop_) {
      open_loop_->Finish();
    }
    return operations < next_check_ || CheckClock(operations);
  }

  // True if the time limit, or another thread's failure, ended the loop.
  bool expired() const { return expired_; }

  uint64_t start_ns() const { return start_ns_; }

  // Ends the loop after so many operations and returns its duration.  After
  // none, a call that is no operation was timed: it has no timeline.
  uint64_t StopNs(uint64_t operations);

  // True if each call is timed; then what the last one took, in ticks(), from
  // where Latency() has it.
  bool times_calls() const { return latency_ || open_loop_; }
  uint64_t last_call() const {
    return open_loop_ ? open_loop_->last_ns() : last_ticks_;
  }
  Histogram ToHistogram(const TickHistogram& calls) const {
    return Histogram(calls, open_loop_ ? 1 : clock_.NsPerTick());
  }

  // What the process used during the loop that has ended; of several threads,
  // until the last one has.
  const Resources& used() const { return gate_ ? gate_->used() : used_; }

  // Of each call; in an open loop from its intended start, and nothing if that
  // is saturated.
  std::optional<Histogram> Latency() const;

  // Of each call of an open loop from its actual start; nothing if saturated.
  std::optional<Histogram> Service() const;

  std::optional<OpenLoopFigures> OpenLoopResult() const;

  // Of meters that were started together, with equal plans.
  static LoopTrace Combine(std::span<const Meter* const> meters);

 private:
  // An ordered reading costs some 8 ns more, which is much beside a call that
  // is as short as the reading itself, and little beside any other.
  static constexpr uint64_t kShortTicks = 128;

  // A reading that ends one call begins the next.  After a short call it is not
  // ordered: what it misses of the next one, should that be long, is found in
  // the one that follows, whose reading is ordered.
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
  StartGate* const gate_;
  std::optional<TickHistogram> latency_;
  std::optional<OpenLoop> open_loop_;
  bool expired_ = false;
  Resources before_;
  Resources used_;
  uint64_t start_ns_ = 0;
  uint64_t stamp_ = 0;          // ticks, when the last call ended
  uint64_t last_ticks_ = 0;     // of the last call
  uint64_t last_check_ns_ = 0;  // since Start()
  uint64_t last_count_ = 0;     // operations at the last look
  uint64_t last_idle_ns_ = 0;   // of the open loop at the last look
  uint64_t stride_ = 1;         // operations between two looks
  uint64_t next_check_ = 1;
  Timeline timeline_;
  Stalls stalls_;
};

}  // namespace kvmatrix

#endif  // COMMON_TIMING_METER_H_
