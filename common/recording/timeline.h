// How the operations of one loop spread over its time.

#ifndef COMMON_RECORDING_TIMELINE_H_
#define COMMON_RECORDING_TIMELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvmatrix {

// Cumulative counts at moments of the loop, thinned as the loop grows so that
// their number stays bounded: 128 to 256 once as many were offered.  Intervals
// then have at least spacing_ns, which is at most a 128th of the time.
class Timeline {
 public:
  struct Point {
    uint64_t elapsed_ns;  // since the loop started
    uint64_t operations;  // finished by then
  };

  Timeline() { points_.reserve(kMaxPoints); }

  // A moment of the loop, at or past those before it.
  void Add(uint64_t elapsed_ns, uint64_t operations) {
    if (elapsed_ns - last_.elapsed_ns >= spacing_ns_ &&
        operations > last_.operations) {
      Append({elapsed_ns, operations});
    }
  }

  // The end of the loop, which is the last point.
  void Finish(uint64_t elapsed_ns, uint64_t operations);

  // Finished by that time, by a straight line between the points around it.
  uint64_t At(uint64_t elapsed_ns) const;

  // Strictly increasing in both.
  const std::vector<Point>& points() const { return points_; }

 private:
  static constexpr size_t kMaxPoints = 256;

  void Append(Point point);
  void Thin();

  std::vector<Point> points_;
  Point last_{0, 0};
  uint64_t spacing_ns_ = 1;
};

// What several loops with one start have finished together.
Timeline Sum(std::span<const Timeline* const> timelines);

// Times in which no operation finished, as far as they are long.
class Stalls {
 public:
  static constexpr uint64_t kLongNs = 100'000'000;
  static constexpr size_t kListed = 100;

  struct Stall {
    uint64_t at_ns;  // since the loop started
    uint64_t lasted_ns;
  };

  // Nothing finished for `lasted_ns` from `at_ns` on.
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
  std::vector<Stall> all_;  // ten in a second at most
};

// The times in which both stalled.
Stalls Overlap(const Stalls& one, const Stalls& other);

}  // namespace kvmatrix

#endif  // COMMON_RECORDING_TIMELINE_H_
