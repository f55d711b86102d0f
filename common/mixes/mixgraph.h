// mixgraph: RocksDB's model of the store of a social graph (Cao et al.,
// "Characterizing, modeling, and benchmarking RocksDB key-value workloads at
// Facebook", FAST 2020), as in tools/db_bench_tool.cc (commit 00595931) of
// facebook/rocksdb.
//
// Two variants.  MixgraphStream draws as RocksDB does: one random number
// decides type, key, size and length, so that some keys are never put, and
// sizes and lengths in the tail of the model wrap around.  CorrectedStream
// draws each of them from a stream of its own and clamps the tail.
//
// The default parameters (spec/mixgraph_parameters.h) are those that RocksDB
// published for this model, in its pull requests 5953 and 6794 and in the
// paper.

#ifndef COMMON_MIXES_MIXGRAPH_H_
#define COMMON_MIXES_MIXGRAPH_H_

#include <cstdint>
#include <vector>

#include "common/mixes/mix.h"
#include "common/random/random.h"
#include "common/spec/mixgraph_parameters.h"

namespace kvmatrix {

// Returns x with P(X > x) = u for a generalised Pareto distribution with
// location `theta`, shape `k` and scale `sigma`; infinite for u = 0 and k >= 0.
// REQUIRES: 0 <= u <= 1
double ParetoInverse(double u, double theta, double k, double sigma);

// Returns the first number of a 64-bit Mersenne Twister with this seed, which
// RocksDB (Random64) uses as a hash of the seed.  Computes only the words of
// the state that this number depends on.
uint64_t FirstOfMersenneTwister(uint64_t seed);

// The hotness of the key ranges, as whole shares of their total, shuffled.  A
// function of the parameters alone; the same ranges as RocksDB's.  Immutable;
// thread-safe.
//
// A number drawn uniformly from [0, total()) selects range Of(number) with a
// probability proportional to the range's hotness.
class KeyRanges {
 public:
  // If no range has a hotness of 10^-16 or more, as where all four parameters
  // are 0, or if there would be 2^62 shares or more, total() is 0 and Of()
  // cannot be called.
  // REQUIRES: keyrange_num > 0
  explicit KeyRanges(const MixgraphParameters& parameters);

  // Returns the sum of all shares.
  uint64_t total() const { return ends_.back(); }

  // Returns the range that contains `share`.  REQUIRES: share < total()
  uint64_t Of(uint64_t share) const;

  // Returns the number of shares of a range; 0 if it is never selected.
  // REQUIRES: range < size()
  uint64_t Hotness(uint64_t range) const {
    return ends_[range] - (range == 0 ? 0 : ends_[range - 1]);
  }
  // Returns the hottest range; the first of several.
  uint64_t Hottest() const;
  // The number of ranges, keyrange_num.
  uint64_t size() const { return ends_.size(); }

 private:
  std::vector<uint64_t> ends_;  // of the shares of each range
};

// True if the parameters divide the key space into ranges: not all four of
// keyrange_dist_a to _d are 0.
bool HasKeyRanges(const MixgraphParameters& parameters);

// Everything from one number, as in RocksDB: the same number gives the same
// key, type, size and length.  The numbers come from our own generator.
//
// Keys are below `keys`; unless they are uniform, those beyond the last whole
// range are never drawn.  Not thread-safe, except for the const methods.
class MixgraphStream final : public MixStream {
 public:
  // REQUIRES: keys >= keyrange_num
  MixgraphStream(const MixgraphParameters& parameters, uint64_t keys,
                 uint64_t stream_seed);

  MixStep Next() override { return Of(random_.Uniform(keys_)); }

  // Returns the operation that `draw` decides.  REQUIRES: draw < keys
  MixStep Of(uint64_t draw) const;

  // Means over all numbers, or over a sample of two million: the share of each
  // type, that of the hottest key range, entries of a scan and bytes of a value
  // put; 0 if there are none.  These are not quite the shares of the model,
  // which the few thousand numbers of a small key space only approximate.
  struct Means {
    Weights types;
    double hottest_range;
    double scan_length;
    double value_size;
  };
  Means ComputeMeans() const;

 private:
  // The four decisions about one number.
  Operation OperationOf(uint64_t draw) const;
  uint64_t KeyOf(uint64_t draw) const;
  uint64_t ValueSizeOf(uint64_t draw) const;
  uint64_t ScanLengthOf(uint64_t draw) const;

  const MixgraphParameters parameters_;
  const uint64_t keys_;
  const KeyRanges ranges_;
  uint64_t type_ends_[3];  // of get, put and seek, in thousandths
  Random random_;
};

// The same model with a stream for each decision.  It does not decide value
// sizes: they are those of all values of the run.  Not thread-safe.
class CorrectedStream final : public MixStream {
 public:
  // REQUIRES: keys >= keyrange_num
  CorrectedStream(const MixgraphParameters& parameters, uint64_t keys,
                  uint64_t stream_seed);

  MixStep Next() override;

 private:
  uint64_t NextKey();

  const MixgraphParameters parameters_;
  const uint64_t keys_;
  const KeyRanges ranges_;
  OperationChooser types_;
  Random range_random_;
  Random key_random_;
  Random length_random_;
};

// Returns the shares of gets, puts and scans, with sum 1.
// REQUIRES: one of the three ratios is positive
Weights MixgraphWeights(const MixgraphParameters& parameters);

// Returns the mean length of CorrectedStream's scans, in entries, computed at
// 200,000 evenly spaced quantiles.
double MeanScanLength(const MixgraphParameters& parameters);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIXGRAPH_H_
