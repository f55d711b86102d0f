#include "common/timing/open_loop.h"

#include <algorithm>

namespace kvmatrix {
namespace {

constexpr double kNsPerSecond = 1e9;

double PerSecond(uint64_t operations, double ns) {
  return ns > 0 ? static_cast<double>(operations) * kNsPerSecond / ns : 0;
}

}  // namespace

double OpenLoop::NextScheduleNs(uint64_t operations) const {
  return schedule_ns_ + gap_ * static_cast<double>(operations) * kNsPerSecond /
                            (rate_ops_per_sec_ * swing_.At(schedule_ns_));
}

void OpenLoop::Await(uint64_t operations) {
  // In this order: both functions use the gap and the schedule of the call
  // before; the next gap is drawn for the next call.
  intended_ns_ = DueNs(operations);
  schedule_ns_ = NextScheduleNs(operations);
  gap_ = arrivals_.NextGap();
  operations_ += operations;
  if (ended_ns_ > intended_ns_) {
    ++late_starts_;
  } else {
    idle_ns_ += intended_ns_ - ended_ns_;
  }
  began_ns_ = clock_.WaitUntilNs(intended_ns_);
  max_lag_ns_ = std::max(max_lag_ns_, began_ns_ - intended_ns_);
}

void OpenLoop::Finish() {
  ended_ns_ = clock_.NowNs();
  latency_.Add(ended_ns_ - intended_ns_);
  service_.Add(ended_ns_ - began_ns_);
}

OpenLoopFigures OpenLoop::Figures() const {
  OpenLoopFigures figures;
  figures.rate_ops_per_sec = rate_ops_per_sec_;
  figures.max_ops_per_sec = max_ops_per_sec_;
  figures.offered_ops_per_sec = PerSecond(operations_, schedule_ns_);
  figures.achieved_ops_per_sec =
      PerSecond(operations_, static_cast<double>(ended_ns_ - start_ns_));
  figures.late_starts = late_starts_;
  figures.max_lag_ns = max_lag_ns_;
  return figures;
}

// The result is one loop with the sum of the rates, up to the end of the later
// one.
void OpenLoop::Merge(const OpenLoop& other) {
  rate_ops_per_sec_ += other.rate_ops_per_sec_;
  max_ops_per_sec_ += other.max_ops_per_sec_;
  schedule_ns_ = std::max(schedule_ns_, other.schedule_ns_);
  ended_ns_ = std::max(ended_ns_, other.ended_ns_);
  operations_ += other.operations_;
  late_starts_ += other.late_starts_;
  max_lag_ns_ = std::max(max_lag_ns_, other.max_lag_ns_);
  latency_.Merge(other.latency_);
  service_.Merge(other.service_);
}

}  // namespace kvmatrix
