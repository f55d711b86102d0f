// A random order of 0..n-1 that needs no memory.

#ifndef COMMON_PERMUTATION_H_
#define COMMON_PERMUTATION_H_

#include <cstdint>

namespace kvmatrix {

// A bijection on [0, n): four rounds of a balanced Feistel network over the
// smallest even number of bits that holds n, walking the cycle until the result
// falls below n (Black and Rogaway, CT-RSA 2002).
class Permutation {
 public:
  // REQUIRES: 0 < n <= 2^62
  Permutation(uint64_t n, uint64_t seed);

  // The i-th element of the order.  REQUIRES: i < n
  uint64_t operator()(uint64_t i) const {
    do {
      i = Encrypt(i);
    } while (i >= n_);
    return i;
  }

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

  uint64_t Encrypt(uint64_t x) const;
  uint64_t Decrypt(uint64_t x) const;

  const uint64_t n_;
  int half_bits_ = 1;
  uint64_t half_mask_;
  uint64_t round_keys_[kRounds];
};

}  // namespace kvmatrix

#endif  // COMMON_PERMUTATION_H_
