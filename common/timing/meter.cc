#include "common/timing/meter.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace kvmatrix {
namespace {

// The stride: the clock is not read after each call but after `stride_`
// operations, and the stride is adapted so that one to two intervals pass
// between two readings: doubled if less than one has passed, and reduced in
// proportion if more than two have.  A loop that slows down is late for its
// next check by the factor of the slowdown; the shorter the interval, the less
// likely a slow stretch is mistaken for a stall.
constexpr uint64_t kCheckIntervalNs = 16'000;

// The first 256 operations are checked one by one, and after that at least once
// while the loop grows by 1/64, so that a short loop has a timeline too.
constexpr uint64_t kCheckedEachTime = 256;
constexpr uint64_t kGrowth = 64;

// A waiting thread checks at this interval whether another one has failed.
constexpr uint64_t kLongestWaitNs = 10'000'000;

}  // namespace

Meter::Meter(Clock& clock, Progress& progress, const Plan& plan)
    : clock_(clock),
      progress_(progress),
      duration_ns_(plan.duration_ns),
      scale_ops_per_sec_(plan.scale_ops_per_sec),
      gate_(plan.gate) {
  if (plan.rate_ops_per_sec > 0) {
    open_loop_.emplace(clock, plan.rate_ops_per_sec, plan.arrivals, plan.swing);
  } else if (plan.latencies) {
    latency_.emplace();
  }
}

void Meter::Start() {
  if (gate_) {
    start_ns_ = gate_->Start();
  } else {
    before_ = Usage::Start();
    start_ns_ = clock_.NowNs();
  }
  if (scale_ops_per_sec_ != nullptr) {
    open_loop_->ScaleRate(*scale_ops_per_sec_);
  }
  if (open_loop_) open_loop_->Start(start_ns_);
  ExcludePreparation();
}

// Returns false if another thread has failed meanwhile.
bool Meter::WaitUntil(uint64_t ns) {
  uint64_t now_ns = clock_.NowNs();
  while (now_ns < ns) {
    if (gate_ && gate_->failed()) return false;
    const uint64_t next_ns = gate_ ? now_ns + kLongestWaitNs : ns;
    now_ns = clock_.WaitUntilNs(std::min(ns, next_ns));
  }
  return true;
}

void Meter::Await(uint64_t operations) {
  if (gate_ && !WaitUntil(open_loop_->DueNs(operations))) {
    throw std::runtime_error("another thread has failed");
  }
  open_loop_->Await(operations);
}

bool Meter::IsDueInTime(uint64_t operations) {
  const uint64_t limit_ns = start_ns_ + duration_ns_;
  // What is due in time is called, be it late: if the loop ends in a stall,
  // these calls are the slowest.  Only a saturated loop, which has no
  // percentiles, leaves some out.
  if (open_loop_->DueNs(operations) < limit_ns &&
      !open_loop_->IsSaturatedBy(limit_ns)) {
    return true;
  }
  expired_ = true;
  WaitUntil(limit_ns);
  open_loop_->Idle(limit_ns);
  return false;
}

bool Meter::CheckClock(uint64_t operations) {
  const uint64_t elapsed_ns = clock_.NowNs() - start_ns_;
  const uint64_t since_ns = elapsed_ns - last_check_ns_;
  Record(elapsed_ns, operations);
  if (since_ns < kCheckIntervalNs) {
    stride_ *= 2;
  } else if (since_ns > 2 * kCheckIntervalNs) {
    stride_ = stride_ * kCheckIntervalNs / since_ns;
  }
  const uint64_t most =
      operations < kCheckedEachTime ? 1 : operations / kGrowth;
  stride_ = std::clamp<uint64_t>(stride_, 1, most);
  next_check_ = operations + stride_;
  // IsInTime() ends an open loop.
  expired_ = (duration_ns_ > 0 && !open_loop_ && elapsed_ns >= duration_ns_) ||
             (gate_ && gate_->failed());
  ExcludePreparation();  // the next call does not pay for the check
  return !expired_;
}

void Meter::Record(uint64_t elapsed_ns, uint64_t operations) {
  progress_.Add(operations - last_count_);
  last_count_ = operations;
  if (first_call_ns_ == 0) first_call_ns_ = elapsed_ns;
  timeline_.Add(elapsed_ns, operations);
  const uint64_t idle_ns = open_loop_ ? open_loop_->idle_ns() : 0;
  const uint64_t lasted_ns = elapsed_ns - last_check_ns_;
  const uint64_t idled_ns = idle_ns - last_idle_ns_;
  if (lasted_ns > idled_ns) stalls_.Add(last_check_ns_, lasted_ns - idled_ns);
  last_check_ns_ = elapsed_ns;
  last_idle_ns_ = idle_ns;
}

uint64_t Meter::StopNs(uint64_t operations) {
  const uint64_t elapsed_ns = clock_.NowNs() - start_ns_;
  if (gate_) {
    gate_->Finish();
  } else {
    usage_ = Usage::Since(before_);
  }
  if (operations > 0) {
    Record(elapsed_ns, operations);
    timeline_.Finish(elapsed_ns, operations);
  }
  return elapsed_ns;
}

void Meter::Merge(const Meter& other) {
  expired_ |= other.expired_;
  first_call_ns_ = std::min(first_call_ns_, other.first_call_ns_);
  if (latency_) latency_->Merge(*other.latency_);
  if (open_loop_) open_loop_->Merge(*other.open_loop_);
  stalls_ = Overlap(stalls_, other.stalls_);
}

LoopTrace Meter::Combine(std::span<const Meter* const> meters) {
  Meter all = *meters.front();
  std::vector<const Timeline*> timelines;
  for (const Meter* meter : meters) timelines.push_back(&meter->timeline_);
  for (const Meter* meter : meters.subspan(1)) all.Merge(*meter);
  return {.truncated = all.expired_,
          .first_call_ns = all.first_call_ns_,
          .timeline = meters.size() == 1 ? all.timeline_ : Sum(timelines),
          .stalls = all.stalls_,
          .latency = all.Latency(),
          .service = all.Service(),
          .open_loop = all.OpenLoopResult()};
}

std::optional<Histogram> Meter::Latency() const {
  if (latency_) return Histogram(*latency_, clock_.NsPerTick());
  if (!open_loop_ || open_loop_->Figures().saturated()) return {};
  return Histogram(open_loop_->latency(), 1);
}

std::optional<Histogram> Meter::Service() const {
  if (!open_loop_ || open_loop_->Figures().saturated()) return {};
  return Histogram(open_loop_->service(), 1);
}

std::optional<OpenLoopFigures> Meter::OpenLoopResult() const {
  if (!open_loop_) return {};
  return open_loop_->Figures();
}

}  // namespace kvmatrix
