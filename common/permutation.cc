#include "common/permutation.h"

#include "common/random.h"

namespace kvmatrix {

Permutation::Permutation(uint64_t n, uint64_t seed) : n_(n) {
  while ((uint64_t{1} << (2 * half_bits_)) < n) ++half_bits_;
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
  Random random(seed);
  for (uint64_t& key : round_keys_) key = random.Next();
}

uint64_t Permutation::Encrypt(uint64_t x) const {
  uint64_t left = x >> half_bits_;
  uint64_t right = x & half_mask_;
  for (const uint64_t key : round_keys_) {
    const uint64_t next = left ^ (Mix64(right + key) & half_mask_);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

uint64_t Permutation::Decrypt(uint64_t x) const {
  uint64_t left = x >> half_bits_;
  uint64_t right = x & half_mask_;
  for (int round = kRounds - 1; round >= 0; --round) {
    const uint64_t before =
        right ^ (Mix64(left + round_keys_[round]) & half_mask_);
    right = left;
    left = before;
  }
  return (left << half_bits_) | right;
}

}  // namespace kvmatrix
