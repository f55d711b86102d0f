#include "common/meter.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kShortLookNs = 2'000'000;
constexpr uint64_t kLongLookNs = 10'000'000;

}  // namespace

bool Meter::Look(uint64_t operations) {
  const uint64_t elapsed_ns = clock_.NowNs() - start_ns_;
  progress_.Set(operations);
  const uint64_t since_ns = elapsed_ns - last_look_ns_;
  last_look_ns_ = elapsed_ns;
  if (since_ns < kShortLookNs) {
    stride_ *= 2;
  } else if (since_ns > kLongLookNs && stride_ > 1) {
    stride_ /= 2;
  }
  next_look_ = operations + stride_;
  expired_ = duration_ns_ > 0 && elapsed_ns >= duration_ns_;
  return !expired_;
}

}  // namespace kvmatrix
