#include "common/mix_flags.h"

#include <gflags/gflags.h>

#include <cmath>
#include <string>

#include "common/config.h"

namespace {
constexpr kvmatrix::MixgraphParameters kPublished;
}  // namespace

DEFINE_bool(writeallfields, false,
            "ycsb: an update puts the record unread; false, as in YCSB: "
            "one field of ten changes, so that the record is read first");
DEFINE_double(keyrange_dist_a, kPublished.keyrange_dist_a,
              "mixgraph: hotness of key range x is a exp(b x) + c exp(d x); "
              "all four 0: no ranges");
DEFINE_double(keyrange_dist_b, kPublished.keyrange_dist_b,
              "mixgraph: see --keyrange_dist_a");
DEFINE_double(keyrange_dist_c, kPublished.keyrange_dist_c,
              "mixgraph: see --keyrange_dist_a");
DEFINE_double(keyrange_dist_d, kPublished.keyrange_dist_d,
              "mixgraph: see --keyrange_dist_a");
DEFINE_uint64(keyrange_num, kPublished.keyrange_num,
              "mixgraph: key ranges of equal size");
DEFINE_double(key_dist_a, kPublished.key_dist_a,
              "mixgraph: hotness of a key is a x^b; either 0: keys are "
              "uniform");
DEFINE_double(key_dist_b, kPublished.key_dist_b, "mixgraph: see --key_dist_a");
DEFINE_double(value_theta, kPublished.value_theta,
              "mixgraph: location of the generalized Pareto value sizes, "
              "bytes");
DEFINE_double(value_k, kPublished.value_k,
              "mixgraph: shape of the value sizes");
DEFINE_double(value_sigma, kPublished.value_sigma,
              "mixgraph: scale of the value sizes, bytes");
DEFINE_double(iter_theta, kPublished.iter_theta,
              "mixgraph: location of the generalized Pareto scan lengths, "
              "entries");
DEFINE_double(iter_k, kPublished.iter_k, "mixgraph: shape of the scan lengths");
DEFINE_double(iter_sigma, kPublished.iter_sigma,
              "mixgraph: scale of the scan lengths, entries");
DEFINE_double(mix_get_ratio, kPublished.mix_get_ratio,
              "mixgraph: weight of gets");
DEFINE_double(mix_put_ratio, kPublished.mix_put_ratio,
              "mixgraph: weight of puts");
DEFINE_double(mix_seek_ratio, kPublished.mix_seek_ratio,
              "mixgraph: weight of scans");
DEFINE_uint64(mix_max_scan_len, kPublished.mix_max_scan_len,
              "mixgraph: bound of scan lengths, entries");
DEFINE_uint64(mix_max_value_size, kPublished.mix_max_value_size,
              "mixgraph: bound of value sizes, bytes, at most 65535");
DEFINE_bool(sine_mix_rate, kPublished.sine_mix_rate,
            "mixgraph: an open loop of a sin(b t + c) + d operations per "
            "second after t seconds; false: as fast as it goes");
DEFINE_double(sine_a, kPublished.sine_a, "mixgraph: see --sine_mix_rate");
DEFINE_double(sine_b, kPublished.sine_b, "mixgraph: see --sine_mix_rate");
DEFINE_double(sine_c, kPublished.sine_c, "mixgraph: see --sine_mix_rate");
DEFINE_double(sine_d, kPublished.sine_d, "mixgraph: see --sine_mix_rate");
DEFINE_uint64(sine_mix_rate_interval_milliseconds,
              kPublished.sine_mix_rate_interval_milliseconds,
              "mixgraph: how long a rate is kept");

namespace kvmatrix {
namespace {

void Require(bool holds, const char* message) {
  if (!holds) throw UsageError(message);
}

void CheckFinite() {
  const std::pair<const char*, double> flags[] = {
      {"--keyrange_dist_a", FLAGS_keyrange_dist_a},
      {"--keyrange_dist_b", FLAGS_keyrange_dist_b},
      {"--keyrange_dist_c", FLAGS_keyrange_dist_c},
      {"--keyrange_dist_d", FLAGS_keyrange_dist_d},
      {"--key_dist_a", FLAGS_key_dist_a},
      {"--key_dist_b", FLAGS_key_dist_b},
      {"--value_theta", FLAGS_value_theta},
      {"--value_k", FLAGS_value_k},
      {"--value_sigma", FLAGS_value_sigma},
      {"--iter_theta", FLAGS_iter_theta},
      {"--iter_k", FLAGS_iter_k},
      {"--iter_sigma", FLAGS_iter_sigma},
      {"--mix_get_ratio", FLAGS_mix_get_ratio},
      {"--mix_put_ratio", FLAGS_mix_put_ratio},
      {"--mix_seek_ratio", FLAGS_mix_seek_ratio},
      {"--sine_a", FLAGS_sine_a},
      {"--sine_b", FLAGS_sine_b},
      {"--sine_c", FLAGS_sine_c},
      {"--sine_d", FLAGS_sine_d},
  };
  for (const auto& [name, value] : flags) {
    if (std::isfinite(value)) continue;
    throw UsageError(std::string(name) + ": a finite number");
  }
}

void CheckMixgraph(const MixgraphParameters& p) {
  CheckFinite();
  Require(p.keyrange_num >= 1 && p.keyrange_num <= 1'000'000,
          "--keyrange_num: from 1 to 1000000");
  Require(!HasKeyRanges(p) || KeyRanges(p).total() > 0,
          "--keyrange_dist_a, _b, _c, _d: no key range has a hotness of 10^-16 "
          "or more; all four 0: no ranges");
  Require(p.key_dist_a >= 0, "--key_dist_a: not negative");
  Require(p.key_dist_b >= 0, "--key_dist_b: not negative");
  Require(p.value_theta >= 0, "--value_theta: not negative");
  Require(p.value_sigma > 0, "--value_sigma: above 0");
  Require(p.iter_theta >= 0, "--iter_theta: not negative");
  Require(p.iter_sigma > 0, "--iter_sigma: above 0");
  Require(p.mix_get_ratio >= 0, "--mix_get_ratio: not negative");
  Require(p.mix_put_ratio >= 0, "--mix_put_ratio: not negative");
  Require(p.mix_seek_ratio >= 0, "--mix_seek_ratio: not negative");
  Require(p.mix_get_ratio + p.mix_put_ratio + p.mix_seek_ratio > 0,
          "--mix_get_ratio, --mix_put_ratio, --mix_seek_ratio: one must be "
          "above 0");
  Require(p.mix_max_scan_len >= 1 && p.mix_max_scan_len <= 1'000'000,
          "--mix_max_scan_len: from 1 to 1000000");
  Require(p.mix_max_value_size >= kLeastMixgraphValue &&
              p.mix_max_value_size <= 65'535,
          "--mix_max_value_size: from 10 to 65535");
  Require(p.sine_mix_rate_interval_milliseconds >= 1,
          "--sine_mix_rate_interval_milliseconds: at least 1");
  Require(!p.sine_mix_rate || p.sine_d - std::abs(p.sine_a) >= 1,
          "--sine_d: the rate must not fall below 1 per second; raise it above "
          "--sine_a");
}

}  // namespace

MixFlags MixFlagsFromCommandLine() {
  MixFlags flags;
  flags.writeallfields = FLAGS_writeallfields;
  MixgraphParameters& p = flags.mixgraph;
  p.keyrange_dist_a = FLAGS_keyrange_dist_a;
  p.keyrange_dist_b = FLAGS_keyrange_dist_b;
  p.keyrange_dist_c = FLAGS_keyrange_dist_c;
  p.keyrange_dist_d = FLAGS_keyrange_dist_d;
  p.keyrange_num = FLAGS_keyrange_num;
  p.key_dist_a = FLAGS_key_dist_a;
  p.key_dist_b = FLAGS_key_dist_b;
  p.value_theta = FLAGS_value_theta;
  p.value_k = FLAGS_value_k;
  p.value_sigma = FLAGS_value_sigma;
  p.iter_theta = FLAGS_iter_theta;
  p.iter_k = FLAGS_iter_k;
  p.iter_sigma = FLAGS_iter_sigma;
  p.mix_get_ratio = FLAGS_mix_get_ratio;
  p.mix_put_ratio = FLAGS_mix_put_ratio;
  p.mix_seek_ratio = FLAGS_mix_seek_ratio;
  p.mix_max_scan_len = FLAGS_mix_max_scan_len;
  p.mix_max_value_size = FLAGS_mix_max_value_size;
  p.sine_mix_rate = FLAGS_sine_mix_rate;
  p.sine_a = FLAGS_sine_a;
  p.sine_b = FLAGS_sine_b;
  p.sine_c = FLAGS_sine_c;
  p.sine_d = FLAGS_sine_d;
  p.sine_mix_rate_interval_milliseconds =
      FLAGS_sine_mix_rate_interval_milliseconds;
  CheckMixgraph(p);
  VisitMixgraphFlags([&flags](const char* name, auto) {
    if (gflags::GetCommandLineFlagInfoOrDie(name).is_default) return;
    flags.given.insert(name);
  });
  return flags;
}

}  // namespace kvmatrix
