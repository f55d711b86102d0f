// The progress of a loop over its time, and the stalls in it.

#ifndef COMMON_RECORDING_TIMELINE_H_
#define COMMON_RECORDING_TIMELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvmatrix {

// Cumulative operation counts at moments of the loop, in bounded memory.
// Points are accepted at a minimum spacing.  Whenever 256 points are stored,
// the spacing is doubled and points that are now too close are removed, so that
// between 128 and 256 remain and every interval lasts at least the spacing,
// which is at most 1/128 of the elapsed time.  Not thread-safe.
class Timeline {
 public:
  struct Point {
    uint64_t elapsed_ns;  // since the loop started
    uint64_t operations;  // completed by then
  };

  Timeline() { points_.reserve(kMaxPoints); }

  // Offers a point.  REQUIRES: both arguments are not less than in earlier
  // calls
  void Add(uint64_t elapsed_ns, uint64_t operations) {
    if (elapsed_ns - last_.elapsed_ns >= spacing_ns_ &&
        operations > last_.operations) {
      Append({elapsed_ns, operations});
    }
  }

  // Sets the last point, the end of the loop.
  void Finish(uint64_t elapsed_ns, uint64_t operations);

  // Returns the operations completed by `elapsed_ns`, interpolated linearly.
  uint64_t At(uint64_t elapsed_ns) const;

  // The points, strictly increasing in both coordinates.
  const std::vector<Point>& points() const { return points_; }

 private:
  static constexpr size_t kMaxPoints = 256;

  void Append(Point point);
  void Thin();

  std::vector<Point> points_;
  Point last_{0, 0};
  uint64_t spacing_ns_ = 1;
};

// Returns the joint progress of loops that started at the same moment.
Timeline Sum(std::span<const Timeline* const> timelines);

// Periods of at least 100 ms without a completed operation.  Not thread-safe.
class Stalls {
 public:
  // A period counts from this length on, and at most kListed are reported.
  static constexpr uint64_t kLongNs = 100'000'000;
  static constexpr size_t kListed = 100;

  struct Stall {
    uint64_t at_ns;  // since the loop started
    uint64_t lasted_ns;
  };

  // Offers a period of `lasted_ns` from `at_ns` on; shorter ones are ignored.
  void Add(uint64_t at_ns, uint64_t lasted_ns) {
    if (lasted_ns < kLongNs) return;
    total_ns_ += lasted_ns;
    all_.push_back({at_ns, lasted_ns});
  }

  uint64_t count() const { return all_.size(); }
  uint64_t total_ns() const { return total_ns_; }
  std::span<const Stall> all() const { return all_; }
  std::span<const Stall> first() const {
    return all().first(std::min(all_.size(), kListed));
  }

 private:
  uint64_t total_ns_ = 0;
  std::vector<Stall> all_;  // at most ten per second of the loop
};

// Returns the periods in which both loops stalled.
Stalls Overlap(const Stalls& first, const Stalls& second);

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_TIMELINE_H_
