// The parameters of the mixgraph benchmarks, as plain data.

#ifndef COMMON_SPEC_MIXGRAPH_PARAMETERS_H_
#define COMMON_SPEC_MIXGRAPH_PARAMETERS_H_

#include <cstdint>

namespace kvmatrix {

// Each field is the value of the flag of the same name.  The defaults are the
// published ones; mixes/mixgraph.h names the sources and explains the model.
// Ranges are those of cli/flag_table.cc; cli/rules.cc refuses combinations that
// leave nothing to draw.
struct MixgraphParameters {
  // Hotness of key range x = 1, 2, ...: a exp(b x) + c exp(d x).  All four 0:
  // the key space is not divided into ranges.
  double keyrange_dist_a = 14.18;
  double keyrange_dist_b = -2.917;
  double keyrange_dist_c = 0.0164;
  double keyrange_dist_d = -0.08082;
  uint64_t keyrange_num = 30;  // ranges of equal size
  // Hotness of a key within its range: a x^b.  Either one 0: uniform.
  double key_dist_a = 0.002312;
  double key_dist_b = 0.3467;
  // Generalised Pareto distributions (location, shape, scale) of value sizes in
  // bytes and of scan lengths in entries.
  double value_theta = 0, value_k = 0.2615, value_sigma = 25.45;
  double iter_theta = 0, iter_k = 2.517, iter_sigma = 14.236;
  // Weights of the operation types; they need not add up to 1.
  double mix_get_ratio = 0.83;
  double mix_put_ratio = 0.14;
  double mix_seek_ratio = 0.03;
  uint64_t mix_max_scan_len = 10'000;   // entries
  uint64_t mix_max_value_size = 1'024;  // bytes
  // If sine_mix_rate is true, an open loop whose rate after x seconds is a
  // sin(b x + c) + d operations per second, recomputed at each interval.
  bool sine_mix_rate = false;
  double sine_a = 1'000, sine_b = 0.000073, sine_c = 0, sine_d = 4'500;
  uint64_t sine_mix_rate_interval_milliseconds = 5'000;
};

// Draws of fewer bytes become this, as in the original.  A draw above the
// maximum wraps around, as there, and may end up below it.
inline constexpr uint64_t kMinMixgraphValue = 10;  // bytes

}  // namespace kvmatrix

#endif  // COMMON_SPEC_MIXGRAPH_PARAMETERS_H_
