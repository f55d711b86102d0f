// The flags of the mixes alone: YCSB's and mixgraph's, under their own names.

#ifndef COMMON_MIX_FLAGS_H_
#define COMMON_MIX_FLAGS_H_

#include <set>
#include <string>

#include "common/mixgraph.h"

namespace kvmatrix {

struct MixFlags {
  // An update of YCSB writes a whole record and reads nothing; else it writes
  // one field of ten, which a store of whole values must read first.
  bool writeallfields = false;
  MixgraphParameters mixgraph;
  std::set<std::string, std::less<>> given;  // of mixgraph's, by name
};

// Calls `visit` with the name of each flag of mixgraph and its member of
// MixgraphParameters.
template <typename Visit>
void VisitMixgraphFlags(Visit visit) {
  using P = MixgraphParameters;
  visit("keyrange_dist_a", &P::keyrange_dist_a);
  visit("keyrange_dist_b", &P::keyrange_dist_b);
  visit("keyrange_dist_c", &P::keyrange_dist_c);
  visit("keyrange_dist_d", &P::keyrange_dist_d);
  visit("keyrange_num", &P::keyrange_num);
  visit("key_dist_a", &P::key_dist_a);
  visit("key_dist_b", &P::key_dist_b);
  visit("value_theta", &P::value_theta);
  visit("value_k", &P::value_k);
  visit("value_sigma", &P::value_sigma);
  visit("iter_theta", &P::iter_theta);
  visit("iter_k", &P::iter_k);
  visit("iter_sigma", &P::iter_sigma);
  visit("mix_get_ratio", &P::mix_get_ratio);
  visit("mix_put_ratio", &P::mix_put_ratio);
  visit("mix_seek_ratio", &P::mix_seek_ratio);
  visit("mix_max_scan_len", &P::mix_max_scan_len);
  visit("mix_max_value_size", &P::mix_max_value_size);
  visit("sine_mix_rate", &P::sine_mix_rate);
  visit("sine_a", &P::sine_a);
  visit("sine_b", &P::sine_b);
  visit("sine_c", &P::sine_c);
  visit("sine_d", &P::sine_d);
  visit("sine_mix_rate_interval_milliseconds",
        &P::sine_mix_rate_interval_milliseconds);
}

// As the command line has them.  Throws UsageError.
MixFlags MixFlagsFromCommandLine();

}  // namespace kvmatrix

#endif  // COMMON_MIX_FLAGS_H_
