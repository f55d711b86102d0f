// A random order of 0..n-1 that needs no memory, or a little for speed.

#ifndef COMMON_RANDOM_PERMUTATION_H_
#define COMMON_RANDOM_PERMUTATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvmatrix {

// A bijection on [0, n): four rounds of a balanced Feistel network over the
// smallest even number of bits that holds n, walking the cycle until the result
// falls below n (Black and Rogaway, CT-RSA 2002).
class Permutation {
 public:
  // REQUIRES: 0 < n <= 2^62
  Permutation(uint64_t n, uint64_t seed);

  // The i-th element of the order.  REQUIRES: i < n
  uint64_t operator()(uint64_t i) const;

  // Replaces each number by the element of that place, as operator() does, but
  // takes the steps of all walks together: how long a walk is cannot be
  // foreseen, and each step waits for the one before.
  // REQUIRES: at most kMaxApply numbers, each below n
  void Apply(std::span<uint64_t> places);
  static constexpr size_t kMaxApply = 128;

  // The place of `element` in the order: (*this)(Inverse(element)) == element.
  // REQUIRES: element < n
  uint64_t Inverse(uint64_t element) const {
    do {
      element = Decrypt(element);
    } while (element >= n_);
    return element;
  }

 private:
  static constexpr int kRounds = 4;
  static constexpr int kTableBits = 12;  // halves that have a table, of 32 KiB

  uint64_t RoundFunction(int round, uint64_t half) const;

  // One step of each of the walks at `x`.  They take each round together:
  // within a step almost every instruction waits for the one before, and a
  // processor overlaps few steps by itself.  Round is uint64_t(int round,
  // uint64_t half).
  template <size_t kCount, typename Round>
  std::array<uint64_t, kCount> Encrypt(const uint64_t* x,
                                       Round round_function) const;
  // All walks to their ends, kGroup of them at once.
  template <size_t kGroup, typename Round>
  void Walk(std::span<uint64_t> places, Round round_function) const;
  uint64_t Decrypt(uint64_t x) const;

  const uint64_t n_;
  int half_bits_ = 1;
  uint64_t half_mask_;
  uint64_t round_keys_[kRounds];
  std::vector<uint16_t> table_;  // of the round functions, for Apply()
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_PERMUTATION_H_
