// What share of draws a distribution gives to its most frequent keys, by exact
// sums or in closed form.  Pure functions; each share is between 0 and 1.

#ifndef COMMON_SHARE_THEORY_H_
#define COMMON_SHARE_THEORY_H_

#include <cstdint>

namespace kvmatrix {

// The sum of 1 / r^theta over r = 1..n, to twelve digits: term by term so long
// as they are few, and the rest by Euler's and Maclaurin's formula.
double Zeta(uint64_t n, double theta);

// Of draws by Zipf's law over n items those of the `count` most frequent.
// REQUIRES: count <= n
double ZipfShare(uint64_t count, uint64_t n, double theta);

// Of draws as YCSB's "zipfian" over `keys` keys those of `distinct` keys, which
// are all that its `ranks` most frequent ranks are hashed to: the share of
// these ranks, and of all others, which fall on any key alike.
double YcsbZipfShare(uint64_t ranks, uint64_t distinct, uint64_t keys);

}  // namespace kvmatrix

#endif  // COMMON_SHARE_THEORY_H_
