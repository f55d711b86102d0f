// What share of draws a distribution gives to its most frequent keys, by exact
// sums or in closed form.  Pure functions; each share is between 0 and 1.

#ifndef COMMON_RANDOM_SHARE_THEORY_H_
#define COMMON_RANDOM_SHARE_THEORY_H_

#include <cstdint>
#include <span>

namespace kvmatrix {

// The sum of 1 / r^theta over r = 1..n, to twelve digits: term by term so long
// as they are few, and the rest by Euler's and Maclaurin's formula.
double Zeta(uint64_t n, double theta);

// Of draws by Zipf's law over n items those of the `count` most frequent.
// REQUIRES: count <= n
double ZipfShare(uint64_t count, uint64_t n, double theta);

// Of draws as YCSB's "zipfian" over `keys` keys those of `hot`, which is sorted
// and has no key twice.  Rank by rank where these are frequent, and the others
// as if their hashes fell on all keys alike.
double YcsbZipfShare(std::span<const uint64_t> hot, uint64_t keys);

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_SHARE_THEORY_H_
