// The progress of a loop over its time, and the stalls in it.
//
// The meter of each thread records both at its checks of the clock, and
// Meter::Combine() joins those of all threads with Sum() and Overlap().  Times
// are nanoseconds since the start of the loop.

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
// which is at most 1/128 of the elapsed time.
//
//   timeline.Add(elapsed_ns, operations);     // again and again
//   timeline.Finish(elapsed_ns, operations);  // once
//   for (const Timeline::Point& point : timeline.points()) ...
//
// The start of the loop, at 0 ns with 0 operations, is not a point.  The memory
// of all points is allocated by the constructor.  Not thread-safe.
class Timeline {
 public:
  struct Point {
    uint64_t elapsed_ns;  // since the loop started
    uint64_t operations;  // completed by then
  };

  Timeline() { points_.reserve(kMaxPoints); }

  // Offers a point, which is dropped if it is too close to the last one or if
  // no operation was completed since.  Called in timed loops: allocates
  // nothing.
  // REQUIRES: both arguments are not less than in earlier calls
  void Add(uint64_t elapsed_ns, uint64_t operations) {
    if (elapsed_ns - last_.elapsed_ns >= spacing_ns_ &&
        operations > last_.operations) {
      Append({elapsed_ns, operations});
    }
  }

  // Sets the last point, the end of the loop, and removes points that are not
  // before it.  It may be closer to its predecessor than the spacing.  With 0
  // operations the timeline is empty.  No Add() may follow.
  void Finish(uint64_t elapsed_ns, uint64_t operations);

  // Returns the operations completed by `elapsed_ns`, interpolated linearly and
  // rounded down.  After the last point, the operations of that point; 0 if
  // there are none.
  uint64_t At(uint64_t elapsed_ns) const;

  // The points, strictly increasing in both coordinates: at most 256, none for
  // a loop without operations.
  const std::vector<Point>& points() const { return points_; }

 private:
  static constexpr size_t kMaxPoints = 256;

  void Append(Point point);
  // Doubles the spacing until there is room for another point.
  void Thin();

  std::vector<Point> points_;
  Point last_{0, 0};         // the last one stored, or the start
  uint64_t spacing_ns_ = 1;  // least time between two points
};

// Returns the joint progress of loops that started at the same moment: at each
// moment that is a point of any of them, the sum of what all have completed, a
// loop that has ended by then included with all of its operations.  Ends with
// the last of them.
Timeline Sum(std::span<const Timeline* const> timelines);

// Periods of at least 100 ms without a completed operation, one after another
// in time and without overlap.  Not thread-safe.
class Stalls {
 public:
  // A period counts from this length on, 100 ms, and at most kListed are
  // reported.
  static constexpr uint64_t kLongNs = 100'000'000;
  static constexpr size_t kListed = 100;

  struct Stall {
    uint64_t at_ns;  // since the loop started
    uint64_t lasted_ns;
  };

  // Offers a period of `lasted_ns` from `at_ns` on; shorter ones are ignored.
  // REQUIRES: `at_ns` is not before the end of the last period
  void Add(uint64_t at_ns, uint64_t lasted_ns) {
    if (lasted_ns < kLongNs) return;
    total_ns_ += lasted_ns;
    all_.push_back({at_ns, lasted_ns});
  }

  // Number and total length of all periods; all of them, and those that a
  // result lists.  The spans are valid until the next Add().
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

// Returns the periods in which both loops stalled, for at least 100 ms
// together.  They must have started at the same moment.
Stalls Overlap(const Stalls& first, const Stalls& second);

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_TIMELINE_H_
