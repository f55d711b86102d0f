// A short scan from a key, each entry checked: that of a mix, and that of a
// seek with the entries that follow.

#ifndef COMMON_LOOPS_CHECKED_SCAN_H_
#define COMMON_LOOPS_CHECKED_SCAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "common/loops/run_context.h"
#include "common/mixes/mix_workload.h"

namespace kvmatrix {

// One scan after another; `Contention` is a policy of contention.h.  Not
// thread-safe: each thread has its own.
//
//   scan.LookAhead(start, entries, order);   // the harness's work
//   ... what was spent on it is left out of the call ...
//   const auto scanned = scan.Run(session, bytes_of_start);
template <typename Contention>
class CheckedScan {
 public:
  // The context outlives the scan.
  explicit CheckedScan(const ThreadContext& context) : w_(context) {}

  // Collects the entries that a scan from `start` must visit, as of now.  A
  // scan of length 0 still visits the entry it starts at.  Where others delete,
  // the absent keys between them too: one may be put and deleted again during
  // the scan.
  void LookAhead(uint64_t start, uint64_t length, Order order) {
    const bool absent_too =
        Contention::kOthersWrite && w_.mix != nullptr && w_.mix->Deletes();
    start_ = start;
    reverse_ = order == Order::kBackward;
    const auto next = [&](uint64_t key) {
      if (absent_too || key >= w_.oracle.key_space()) return key;
      return reverse_ ? w_.oracle.PreviousPresent(key + 1)
                      : w_.oracle.NextPresent(key);
    };
    limit_ = std::max<uint64_t>(length, 1);
    ahead_.clear();
    uint64_t present = 0;
    uint64_t key = next(start);
    while (present < limit_ && key < w_.oracle.key_space()) {
      ahead_.push_back({key, Contention::Observe(w_, key)});
      if (w_.oracle.Version(key) != 0) ++present;
      key = next(reverse_ ? key - 1 : key + 1);  // past 0 there is kNone
    }
  }

  // Of one scan.
  struct Scanned {
    uint64_t entries = 0;
    uint64_t bytes = 0;   // of keys and values
    bool is_hit = false;  // it began with the key of its start
  };

  // Scans from the start of LookAhead(), whose key has these bytes.
  Scanned Run(Session& session, std::string_view start) {
    Scanned scanned;
    size_t met = 0;  // entries of ahead_ visited so far
    uint64_t last = kNone;
    session.Scan(start, reverse_ ? Order::kBackward : Order::kForward,
                 [&](std::string_view key, std::string_view value) {
                   const std::optional<uint64_t> index = w_.check.IndexOf(key);
                   if (index) {
                     if (!Follows(*index, last, met)) {
                       w_.check.Fail(
                           "a scan is out of order or skips entries at", key);
                     }
                     Visit(*index, met, value);
                     scanned.is_hit |= *index == start_;
                     last = *index;
                   }
                   scanned.bytes += key.size() + value.size();
                   return ++scanned.entries < limit_;
                 });
    if (scanned.entries < limit_ && !MaySkipTo(ahead_.size(), met)) {
      w_.check.Fail("a scan ends before", Check::KeyText(ahead_[met].key));
    }
    return scanned;
  }

 private:
  // An entry that was present before a scan.
  struct Ahead {
    uint64_t key;
    typename Contention::Known known;
  };

  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  // Checks an entry of a scan that has met `met` of the entries ahead, of which
  // this may be the last.
  void Visit(uint64_t key, size_t met, std::string_view value) {
    const bool ahead = met > 0 && ahead_[met - 1].key == key;
    Contention::Compare(
        w_, key, ahead ? ahead_[met - 1].known : Contention::Absent(), value);
  }

  // True if the scan visits key `a` before key `b`.
  bool Precedes(uint64_t a, uint64_t b) const {
    return reverse_ ? a > b : a < b;
  }

  // True if `key` may follow `last`: keys are in the order of the scan, and no
  // entry that was present before the scan is skipped.  An entry that is not
  // among those was inserted since; Compare() decides if that is possible.
  bool Follows(uint64_t key, uint64_t last, size_t& met) const {
    if (last == kNone ? Precedes(key, start_) : !Precedes(last, key)) {
      return false;
    }
    size_t here = met;
    while (here < ahead_.size() && Precedes(ahead_[here].key, key)) ++here;
    const bool allowed = MaySkipTo(here, met);
    met = here < ahead_.size() && ahead_[here].key == key ? here + 1 : here;
    return allowed;
  }

  // True if a scan that has met `met` of the entries ahead may skip those
  // before `end`.  If not, `met` is the first that it may not.
  bool MaySkipTo(size_t end, size_t& met) const {
    for (; met < end; ++met) {
      const Ahead& entry = ahead_[met];
      if (!Contention::MaySkip(w_, entry.key, entry.known)) return false;
    }
    return true;
  }

  const ThreadContext& w_;
  uint64_t start_ = 0;
  std::vector<Ahead> ahead_;
  bool reverse_ = false;  // the direction of the next scan
  uint64_t limit_ = 0;    // entries that the next scan visits at most
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_CHECKED_SCAN_H_
