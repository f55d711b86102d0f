// The expected share of draws that fall on the most frequent keys, for the
// distributions of zipf.h.
//
// A run prints these values next to the shares it counted in its own stream;
// run/distribution_check.h compares them.  Pure functions; every share is in
// [0, 1].

#ifndef COMMON_RANDOM_SHARE_THEORY_H_
#define COMMON_RANDOM_SHARE_THEORY_H_

#include <cstdint>
#include <span>

namespace kvmatrix {

// The expected share of the `count` most frequent items among draws by Zipf's
// law over n items.  REQUIRES: count <= n
double ZipfShare(uint64_t count, uint64_t n, double theta);

// The expected share of the keys in `hot` among draws by YCSB's "zipfian" over
// `keys` keys.  The 262,144 most frequent ranks are hashed and looked up one by
// one; the remaining ranks are treated as if their hashes fell on all keys
// alike.  REQUIRES: `hot` is sorted and has no duplicates
double YcsbZipfShare(std::span<const uint64_t> hot, uint64_t keys);

}  // namespace kvmatrix

#endif  // COMMON_RANDOM_SHARE_THEORY_H_
