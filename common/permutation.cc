#include "common/permutation.h"

#include <array>

#include "common/random.h"

namespace kvmatrix {

Permutation::Permutation(uint64_t n, uint64_t seed) : n_(n) {
  while ((uint64_t{1} << (2 * half_bits_)) < n) ++half_bits_;
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
  Random random(seed);
  for (uint64_t& key : round_keys_) key = random.Next();
}

inline uint64_t Permutation::RoundFunction(int round, uint64_t half) const {
  return Mix64(half + round_keys_[round]) & half_mask_;
}

inline uint64_t Permutation::Encrypt(uint64_t x) const {
  uint64_t left = x >> half_bits_;
  uint64_t right = x & half_mask_;
#pragma GCC unroll 4
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t next = left ^ RoundFunction(round, right);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

uint64_t Permutation::operator()(uint64_t i) const {
  do {
    i = Encrypt(i);
  } while (i >= n_);
  return i;
}

// Whether a walk goes on is no branch, but the length of the list of those that
// do.
template <typename Round>
inline void Permutation::Walk(std::span<uint64_t> places,
                              Round round_function) const {
  const uint64_t n = n_, half_mask = half_mask_;
  const int half_bits = half_bits_;
  std::array<uint64_t, kTogether> walks;
  std::array<uint32_t, kTogether> targets;  // of the walks, in `places`
  size_t count = places.size();
  for (size_t i = 0; i < count; ++i) {
    walks[i] = places[i];
    targets[i] = static_cast<uint32_t>(i);
  }
  while (count > 0) {
    size_t left = 0;
    for (size_t i = 0; i < count; ++i) {
      uint64_t high = walks[i] >> half_bits, low = walks[i] & half_mask;
      high ^= round_function(0, low);
      low ^= round_function(1, high);
      high ^= round_function(2, low);
      low ^= round_function(3, high);
      const uint64_t element = (high << half_bits) | low;
      const uint32_t target = targets[i];
      places[target] = walks[left] = element;
      targets[left] = target;
      left += static_cast<size_t>(element >= n);
    }
    count = left;
  }
}

void Permutation::Apply(std::span<uint64_t> places) {
  if (half_bits_ > kTableBits) {
    return Walk(places, [keys = std::to_array(round_keys_), mask = half_mask_](
                            int round, uint64_t half) {
      return Mix64(half + keys[round]) & mask;
    });
  }
  if (table_.empty()) {
    for (int round = 0; round < kRounds; ++round) {
      for (uint64_t half = 0; half <= half_mask_; ++half) {
        table_.push_back(static_cast<uint16_t>(RoundFunction(round, half)));
      }
    }
  }
  Walk(places,
       [table = table_.data(), bits = half_bits_](int round, uint64_t half) {
         return table[(static_cast<uint64_t>(round) << bits) + half];
       });
}

uint64_t Permutation::Decrypt(uint64_t x) const {
  uint64_t left = x >> half_bits_;
  uint64_t right = x & half_mask_;
  for (int round = kRounds - 1; round >= 0; --round) {
    const uint64_t before = right ^ RoundFunction(round, left);
    right = left;
    left = before;
  }
  return (left << half_bits_) | right;
}

}  // namespace kvmatrix
