// A random order of 0..n-1 that is computed instead of stored.

#ifndef COMMON_RANDOM_PERMUTATION_H_
#define COMMON_RANDOM_PERMUTATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvmatrix {

// A bijection on [0, n), chosen by a seed: a Feistel network of four rounds
// over the smallest even number of bits that can hold n.  Its result may be n
// or more; the network is then applied again until the result is below n
// ("cycle walking"; Black and Rogaway, "Ciphers with arbitrary finite domains",
// CT-RSA 2002).  On average at most four steps are needed, because the domain
// of the network is at most four times n.
//
// Used for orders in which every key occurs exactly once, and to scatter the
// frequent ranks of a skewed distribution over the key space.  Not for
// cryptography.
//
// Threads: const methods may be called concurrently; Apply() needs external
// synchronisation, because its first call builds a table.
class Permutation {
 public:
  // Equal arguments make equal permutations, on every machine.  REQUIRES: 0 < n
  // <= 2^62
  Permutation(uint64_t n, uint64_t seed);

  // Returns element i of the order.  REQUIRES: i < n
  uint64_t operator()(uint64_t i) const;

  // Replaces each position in `places` by the element at that position, as
  // operator() does, but interleaves the walks: the length of a walk cannot be
  // predicted, and each of its steps depends on the one before, so a single
  // walk leaves most of the processor idle.  Several times faster for a full
  // span.  REQUIRES: places.size() <= kMaxApply, each position is below n
  void Apply(std::span<uint64_t> places);
  static constexpr size_t kMaxApply = 128;

  // Returns the position of `element`: (*this)(Inverse(element)) == element.
  // REQUIRES: element < n
  uint64_t Inverse(uint64_t element) const {
    do {
      element = Decrypt(element);
    } while (element >= n_);
    return element;
  }

 private:
  static constexpr int kRounds = 4;
  // Halves of up to this many bits have their round functions in a table of at
  // most 32 KiB; larger ones are computed.
  static constexpr int kTableBits = 12;

  uint64_t RoundFunction(int round, uint64_t half) const;

  // Advances each of the kCount walks at `x` by one step, all of them round by
  // round: within one step almost every instruction depends on the previous
  // one, and the processor overlaps few steps by itself.  Round is uint64_t(int
  // round, uint64_t half).
  template <size_t kCount, typename Round>
  std::array<uint64_t, kCount> Encrypt(const uint64_t* x,
                                       Round round_function) const;
  // Runs all walks to their ends, kGroup of them at a time.
  template <size_t kGroup, typename Round>
  void Walk(std::span<uint64_t> places, Round round_function) const;
  uint64_t Decrypt(uint64_t x) const;

  const uint64_t n_;
  int half_bits_ = 1;
  uint64_t half_mask_;
  uint64_t round_keys_[kRounds];
  std::vector<uint16_t> table_;  // the round functions; filled by Apply()
};

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_PERMUTATION_H_
