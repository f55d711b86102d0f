#include "common/mixes/ycsb_theory.h"

#include <algorithm>

namespace kvmatrix {
namespace {

constexpr uint64_t kMostRanks = 100'000;  // of the set

// YCSB's hash spreads neighbouring ranks less evenly than a random function
// would, and of a true law the first ranks matter one by one: so many are
// examined.
constexpr uint64_t kExamined = 300'000;

}  // namespace

CheckedRecords::CheckedRecords(const YcsbChooser& chooser, uint64_t records)
    : chooser_(chooser),
      count_(std::clamp<uint64_t>(records / 100, 1, kMostRanks)),
      which_(count_ * 100 == records ? "1 %" : std::to_string(count_)) {
  if (!chooser_.IsZipf()) return;
  for (uint64_t rank = 0; rank < count_; ++rank) {
    hottest_.insert(chooser_.OrdinalOf(rank));
  }
  sorted_hottest_.assign(hottest_.begin(), hottest_.end());
  std::ranges::sort(sorted_hottest_);
}

void CheckedRecords::Count(uint64_t ordinal, uint64_t present) {
  if (present != present_) {
    present_ = present;
    chooser_.GrowTo(present);
    share_ = ShareNow();
  }
  ++draws_;
  expected_ += share_;
  if (chooser_.IsZipf()) {
    hits_ += hottest_.contains(ordinal);
  } else if (chooser_.IsLatest()) {
    hits_ += ordinal + count_ >= present;
  } else if (chooser_.request() == YcsbRequest::kHotspot) {
    hits_ += ordinal < chooser_.hotspot().hot();
  } else {
    hits_ += ordinal < count_;
  }
}

Share CheckedRecords::Result() const {
  std::string what = "hottest " + which_ + " of keys";
  if (chooser_.IsLatest()) what = "newest " + which_ + " of records";
  if (chooser_.request() == YcsbRequest::kHotspot) what = "hot spot";
  return {what, hits_ / draws_, expected_ / draws_,
          static_cast<uint64_t>(draws_)};
}

double CheckedRecords::ShareNow() {
  if (chooser_.IsZipf()) return ShareOfHottest();
  if (chooser_.IsLatest()) return chooser_.ShareOfNewest(count_);
  if (chooser_.request() == YcsbRequest::kHotspot) {
    return chooser_.hotspot().share();
  }
  return static_cast<double>(count_) / static_cast<double>(chooser_.items());
}

void CheckedRecords::ExamineRanks() {
  items_ = chooser_.items();
  const uint64_t examined =
      chooser_.MergesRanks() ? kExamined : std::min(kExamined, items_);
  ranks_.clear();
  next_rank_ = 0;
  sums_ = {};
  examined_ = examined;
  rest_ = 1;
  for (uint64_t rank = 0; rank < examined; ++rank) {
    const uint64_t ordinal = chooser_.OrdinalOf(rank);
    const double share = chooser_.ShareOf(rank);
    rest_ -= share;
    const Rank examined_rank{ordinal, share, hottest_.contains(ordinal)};
    if (ordinal < present_) {
      Add(examined_rank);
    } else {
      ranks_.push_back(examined_rank);
    }
  }
  std::ranges::sort(ranks_, {}, &Rank::ordinal);
}

void CheckedRecords::Add(const Rank& rank) {
  sums_.all += rank.share;
  ++sums_.ranks;
  if (!rank.hot) return;
  sums_.hot += rank.share;
  ++sums_.hot_ranks;
}

// Draws of absent records are repeated, so the share is one of the draws that
// yield a present record.  The ranks that are not examined fall on any record
// or, where no two ranks have the same record, on any other record.
double CheckedRecords::ShareOfHottest() {
  if (items_ != chooser_.items()) ExamineRanks();
  while (next_rank_ < ranks_.size() && ranks_[next_rank_].ordinal < present_) {
    Add(ranks_[next_rank_++]);
  }
  const bool merges = chooser_.MergesRanks();
  const auto others = static_cast<double>(items_ - (merges ? 0 : examined_));
  const double each = others > 0 ? std::max(rest_, 0.0) / others : 0;
  const auto hot_present =
      static_cast<double>(std::ranges::lower_bound(sorted_hottest_, present_) -
                          sorted_hottest_.begin());
  const double hot =
      sums_.hot + each * (hot_present -
                          (merges ? 0 : static_cast<double>(sums_.hot_ranks)));
  const double all =
      sums_.all + each * (static_cast<double>(present_) -
                          (merges ? 0 : static_cast<double>(sums_.ranks)));
  return hot / all;
}

}  // namespace kvmatrix
