#include "common/recording/timeline.h"

#include <algorithm>

namespace kvmatrix {

void Timeline::Append(Point point) {
  if (points_.size() == kMaxPoints) {
    Thin();
    last_ = points_.back();
    if (point.elapsed_ns - last_.elapsed_ns < spacing_ns_) return;
  }
  points_.push_back(point);
  last_ = point;
}

// Every interval is at least as long as the old spacing, so two neighbours
// together reach the new one and at least half of the points remain.
void Timeline::Thin() {
  while (points_.size() == kMaxPoints) {
    spacing_ns_ *= 2;
    uint64_t last_ns = 0;
    std::erase_if(points_, [&](const Point& point) {
      if (point.elapsed_ns - last_ns < spacing_ns_) return true;
      last_ns = point.elapsed_ns;
      return false;
    });
  }
}

void Timeline::Finish(uint64_t elapsed_ns, uint64_t operations) {
  const auto overtaken = [&](const Point& point) {
    return point.elapsed_ns >= elapsed_ns || point.operations >= operations;
  };
  while (!points_.empty() && overtaken(points_.back())) points_.pop_back();
  // The end is worth more than the point before it.
  if (points_.size() == kMaxPoints) points_.pop_back();
  if (elapsed_ns > 0 && operations > 0) {
    points_.push_back({elapsed_ns, operations});
  }
}

uint64_t Timeline::At(uint64_t elapsed_ns) const {
  const auto after =
      std::ranges::lower_bound(points_, elapsed_ns, {}, &Point::elapsed_ns);
  if (after == points_.end()) {
    return points_.empty() ? 0 : points_.back().operations;
  }
  const Point before = after == points_.begin() ? Point{0, 0} : *(after - 1);
  const double share =
      static_cast<double>(elapsed_ns - before.elapsed_ns) /
      static_cast<double>(after->elapsed_ns - before.elapsed_ns);
  const auto more = static_cast<double>(after->operations - before.operations);
  return before.operations + static_cast<uint64_t>(share * more);
}

Timeline Sum(std::span<const Timeline* const> timelines) {
  std::vector<uint64_t> moments;
  for (const Timeline* timeline : timelines) {
    for (const auto& point : timeline->points()) {
      moments.push_back(point.elapsed_ns);
    }
  }
  std::ranges::sort(moments);
  Timeline sum;
  uint64_t operations = 0;
  for (const uint64_t moment : moments) {
    operations = 0;
    for (const Timeline* timeline : timelines) {
      operations += timeline->At(moment);
    }
    // Add() thins the points of all loops, of which there may be 256 per
    // thread.
    sum.Add(moment, operations);
  }
  if (!moments.empty()) sum.Finish(moments.back(), operations);
  return sum;
}

Stalls Overlap(const Stalls& first, const Stalls& second) {
  Stalls both;
  auto a = first.all().begin();
  auto b = second.all().begin();
  while (a != first.all().end() && b != second.all().end()) {
    const uint64_t a_end = a->at_ns + a->lasted_ns;
    const uint64_t b_end = b->at_ns + b->lasted_ns;
    const uint64_t from = std::max(a->at_ns, b->at_ns);
    const uint64_t to = std::min(a_end, b_end);
    if (to > from) both.Add(from, to - from);
    if (a_end <= b_end) {
      ++a;
    } else {
      ++b;
    }
  }
  return both;
}

}  // namespace kvmatrix
