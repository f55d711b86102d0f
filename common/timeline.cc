#include "common/timeline.h"

namespace kvmatrix {

void Timeline::Append(Point point) {
  if (points_.size() == kMost) {
    Thin();
    last_ = points_.back();
    if (point.elapsed_ns - last_.elapsed_ns < spacing_ns_) return;
  }
  points_.push_back(point);
  last_ = point;
}

// All intervals are at least as long as the spacing before it doubles, so that
// two of them reach the new one and at least half of the points stay.
void Timeline::Thin() {
  while (points_.size() == kMost) {
    spacing_ns_ *= 2;
    uint64_t kept_ns = 0;
    std::erase_if(points_, [&](const Point& point) {
      if (point.elapsed_ns - kept_ns < spacing_ns_) return true;
      kept_ns = point.elapsed_ns;
      return false;
    });
  }
}

void Timeline::Finish(uint64_t elapsed_ns, uint64_t operations) {
  const auto overtaken = [&](const Point& point) {
    return point.elapsed_ns >= elapsed_ns || point.operations >= operations;
  };
  while (!points_.empty() && overtaken(points_.back())) points_.pop_back();
  if (points_.size() == kMost) points_.pop_back();
  if (elapsed_ns > 0 && operations > 0) {
    points_.push_back({elapsed_ns, operations});
  }
}

}  // namespace kvmatrix
