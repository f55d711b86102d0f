// mixgraph: RocksDB's model of a social graph's store (Cao et al.,
// "Characterizing, modeling, and benchmarking RocksDB key-value workloads at
// Facebook", FAST 2020), as tools/db_bench_tool.cc (commit 00595931) of
// facebook/rocksdb has it.
//
// Two variants.  MixgraphStream draws as RocksDB does: one random number
// decides type, key, size and length, so that some keys are never put, and what
// is long by the model's tail wraps around.  CorrectedStream draws each of them
// from a stream of its own and clamps.

#ifndef COMMON_MIXES_MIXGRAPH_H_
#define COMMON_MIXES_MIXGRAPH_H_

#include <cstdint>
#include <vector>

#include "common/mixes/mix.h"
#include "common/random/random.h"
#include "common/spec/mixgraph_parameters.h"

namespace kvmatrix {

// x with P(X > x) = u of a generalized Pareto distribution; infinite for u = 0
// and k >= 0.
double ParetoInverse(double u, double theta, double k, double sigma);

// The first number of the 64-bit Mersenne Twister seeded so, which RocksDB's
// Random64 is: a hash of the seed.
uint64_t FirstOfMersenneTwister(uint64_t seed);

// The hotness of key ranges, in whole shares of the sum, and shuffled: a
// function of the parameters alone, and the same ranges as RocksDB's.
class KeyRanges {
 public:
  // REQUIRES: keyrange_num > 0 and some range has a hotness of 10^-16 or more
  explicit KeyRanges(const MixgraphParameters& parameters);

  // One past the last share.
  uint64_t total() const { return ends_.back(); }

  // The range that `share` falls to.  REQUIRES: share < total()
  uint64_t Of(uint64_t share) const;

  // Shares of a range.
  uint64_t Hotness(uint64_t range) const {
    return ends_[range] - (range == 0 ? 0 : ends_[range - 1]);
  }
  uint64_t size() const { return ends_.size(); }

 private:
  std::vector<uint64_t> ends_;  // of the shares of each range
};

bool HasKeyRanges(const MixgraphParameters& parameters);

// Everything from one number, as RocksDB does it: the same keys, types, sizes
// and lengths for the same number.  The numbers are of our own generator.
class MixgraphStream final : public MixStream {
 public:
  // REQUIRES: keys >= keyrange_num
  MixgraphStream(const MixgraphParameters& parameters, uint64_t keys,
                 uint64_t stream_seed);

  MixStep Next() override { return Of(random_.Uniform(keys_)); }

  // What the number `draw` decides.  REQUIRES: draw < keys
  MixStep Of(uint64_t draw) const;

  // Over all numbers, or a sample if they are many: entries of a scan, bytes of
  // a value put; 0 if there are none.
  struct Means {
    double scan_length;
    double value_size;
  };
  Means ComputeMeans() const;

 private:
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

// The same model with a stream for each decision.  Value sizes are not its
// business: they are those of all values of the run.
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

// The shares of gets, puts and scans.
Weights MixgraphWeights(const MixgraphParameters& parameters);

// The mean length of the scans of CorrectedStream, in entries.
double MeanScanLength(const MixgraphParameters& parameters);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIXGRAPH_H_
