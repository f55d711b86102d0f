#include "common/random/permutation.h"

#include "common/random/random.h"

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

template <size_t kCount, typename Round>
inline std::array<uint64_t, kCount> Permutation::Encrypt(
    const uint64_t* x, Round round_function) const {
  std::array<uint64_t, kCount> high, low;
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
    high[i] = x[i] >> half_bits_;
    low[i] = x[i] & half_mask_;
  }
// Two rounds per iteration, so that the halves need not be swapped.
#pragma GCC unroll 2
  for (int round = 0; round < kRounds; round += 2) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) {
      high[i] ^= round_function(round, low[i]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) {
      low[i] ^= round_function(round + 1, high[i]);
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) low[i] |= high[i] << half_bits_;
  return low;
}

uint64_t Permutation::operator()(uint64_t i) const {
  do {
    i = Encrypt<1>(&i, [this](int round, uint64_t half) {
      return RoundFunction(round, half);
    })[0];
  } while (i >= n_);
  return i;
}

// After each step the unfinished walks are moved to the front of the list, and
// `left` counts them.  Whether a walk continues is thereby an addition and not
// a branch, which the processor would mispredict about every second time.
template <size_t kGroup, typename Round>
inline void Permutation::Walk(std::span<uint64_t> places,
                              Round round_function) const {
  const uint64_t n = n_;
  std::array<uint64_t, kMaxApply> walks;
  std::array<uint32_t, kMaxApply> targets;  // of the walks, in `places`
  size_t count = places.size();
  for (size_t i = 0; i < count; ++i) {
    walks[i] = places[i];
    targets[i] = static_cast<uint32_t>(i);
  }
  while (count > 0) {
    size_t left = 0;
    const auto finish_step = [&](size_t i, uint64_t element) {
      const uint32_t target = targets[i];
      places[target] = walks[left] = element;
      targets[left] = target;
      left += static_cast<size_t>(element >= n);
    };
    size_t i = 0;
    for (; i + kGroup <= count; i += kGroup) {
      const auto elements = Encrypt<kGroup>(&walks[i], round_function);
#pragma GCC unroll 8
      for (size_t j = 0; j < kGroup; ++j) finish_step(i + j, elements[j]);
    }
    for (; i < count; ++i) {
      finish_step(i, Encrypt<1>(&walks[i], round_function)[0]);
    }
    count = left;
  }
}

void Permutation::Apply(std::span<uint64_t> places) {
  if (half_bits_ > kTableBits) {
    return Walk<8>(places, [this](int round, uint64_t half) {
      return RoundFunction(round, half);
    });
  }
  if (table_.empty()) {
    for (int round = 0; round < kRounds; ++round) {
      for (uint64_t half = 0; half <= half_mask_; ++half) {
        table_.push_back(static_cast<uint16_t>(RoundFunction(round, half)));
      }
    }
  }
  Walk<1>(places,  // a round is so short that a group would not be faster
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
