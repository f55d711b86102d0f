#include "common/mixes/mixgraph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace kvmatrix {
namespace {

// Converts as x86 does: a number that is too large becomes the smallest
// int64_t.  RocksDB relies on it.
int64_t Converted(double x) {
  return x < 0x1p63 ? static_cast<int64_t>(x)
                    : std::numeric_limits<int64_t>::min();
}

// Returns x with a x^b = u, rounded up, from which a key is hashed.
uint64_t HotnessSeed(double u, double a, double b) {
  return static_cast<uint64_t>(Converted(std::ceil(std::pow(u / a, 1 / b))));
}

bool HasKeyHotness(const MixgraphParameters& p) {
  return p.key_dist_a != 0 && p.key_dist_b != 0;
}

}  // namespace

double ParetoInverse(double u, double theta, double k, double sigma) {
  if (k == 0) return theta - sigma * std::log(u);
  return theta + sigma * (std::pow(u, -k) - 1) / k;
}

// The state words that the first output depends on are the seed, its successor
// and the 157th; the rest is one step of the recurrence, and the tempering.
uint64_t FirstOfMersenneTwister(uint64_t seed) {
  constexpr int kMiddle = 156;
  constexpr uint64_t kLow = 0x7fffffff;
  uint64_t word = seed;
  uint64_t second = 0;
  for (uint64_t i = 1; i <= kMiddle; ++i) {
    word = 6364136223846793005u * (word ^ (word >> 62)) + i;
    if (i == 1) second = word;
  }
  const uint64_t joined = (seed & ~kLow) | (second & kLow);
  uint64_t x = word ^ (joined >> 1) ^ (joined & 1 ? 0xb5026f5aa96619e9u : 0);
  x ^= (x >> 29) & 0x5555555555555555u;
  x ^= (x << 17) & 0x71d67fffeda60000u;
  x ^= (x << 37) & 0xfff7eee000000000u;
  return x ^ (x >> 43);
}

KeyRanges::KeyRanges(const MixgraphParameters& p) {
  constexpr double kMin = 1e-16;
  constexpr double kMostShares = 0x1p62;
  std::vector<uint64_t> shares;
  double scale = 0;
  double sum = 0;
  for (uint64_t range = p.keyrange_num; range >= 1; --range) {
    const auto x = static_cast<double>(range);
    const double hotness = p.keyrange_dist_a * std::exp(p.keyrange_dist_b * x) +
                           p.keyrange_dist_c * std::exp(p.keyrange_dist_d * x);
    const bool hot = hotness >= kMin;
    // The last range that is hot at all has one share or more.
    if (scale == 0 && hot) scale = std::floor(1 / hotness) + 1;
    const double share = hot ? std::floor(scale * hotness) : 0;
    sum += share;
    shares.push_back(sum < kMostShares ? static_cast<uint64_t>(share) : 0);
  }
  if (!(sum < kMostShares)) std::ranges::fill(shares, 0);
  uint64_t total = 0;
  for (const uint64_t share : shares) total += share;
  // RocksDB seeds the shuffle with the total, so equal parameters give equal
  // ranges in every run.
  std::mt19937_64 shuffle(total);
  for (uint64_t& share : shares) {
    std::swap(share, shares[shuffle() % shares.size()]);
  }
  uint64_t end = 0;
  for (const uint64_t share : shares) ends_.push_back(end += share);
}

uint64_t KeyRanges::Of(uint64_t share) const {
  return static_cast<uint64_t>(std::ranges::upper_bound(ends_, share) -
                               ends_.begin());
}

uint64_t KeyRanges::Hottest() const {
  uint64_t hottest = 0;
  for (uint64_t range = 1; range < size(); ++range) {
    if (Hotness(range) > Hotness(hottest)) hottest = range;
  }
  return hottest;
}

bool HasKeyRanges(const MixgraphParameters& p) {
  return p.keyrange_dist_a != 0 || p.keyrange_dist_b != 0 ||
         p.keyrange_dist_c != 0 || p.keyrange_dist_d != 0;
}

MixgraphStream::MixgraphStream(const MixgraphParameters& parameters,
                               uint64_t keys, uint64_t stream_seed)
    : parameters_(parameters),
      keys_(keys),
      ranges_(parameters),
      random_(stream_seed) {
  const double ratios[] = {parameters.mix_get_ratio, parameters.mix_put_ratio,
                           parameters.mix_seek_ratio};
  const double sum = ratios[0] + ratios[1] + ratios[2];
  uint64_t end = 0;
  for (size_t type = 0; type < std::size(ratios); ++type) {
    end += static_cast<uint64_t>(std::ceil(1000 * (ratios[type] / sum)));
    type_ends_[type] = end;
  }
}

uint64_t MixgraphStream::KeyOf(uint64_t draw) const {
  const MixgraphParameters& p = parameters_;
  if (!HasKeyHotness(p)) return draw;
  const bool ranges = HasKeyRanges(p);
  const uint64_t keys = ranges ? keys_ / p.keyrange_num : keys_;
  const double u = static_cast<double>(draw % keys) / static_cast<double>(keys);
  const uint64_t hash =
      FirstOfMersenneTwister(HotnessSeed(u, p.key_dist_a, p.key_dist_b));
  const uint64_t first = ranges ? keys * ranges_.Of(draw % ranges_.total()) : 0;
  return first + hash % keys;
}

Operation MixgraphStream::OperationOf(uint64_t draw) const {
  const uint64_t thousandth = draw % type_ends_[2];
  if (thousandth < type_ends_[0]) return Operation::kGet;
  return thousandth < type_ends_[1] ? Operation::kPut : Operation::kSeek;
}

uint64_t MixgraphStream::ValueSizeOf(uint64_t draw) const {
  const MixgraphParameters& p = parameters_;
  // The same number that selects the key; for 0 the size is infinite, and
  // Converted() makes it the smallest int64_t.
  const double u = static_cast<double>(draw) / static_cast<double>(keys_);
  const int64_t size = Converted(
      std::ceil(ParetoInverse(u, p.value_theta, p.value_k, p.value_sigma)));
  const auto most = static_cast<int64_t>(p.mix_max_value_size);
  if (size < static_cast<int64_t>(kMinMixgraphValue)) {
    return kMinMixgraphValue;
  }
  return static_cast<uint64_t>(size > most ? size % most : size);
}

uint64_t MixgraphStream::ScanLengthOf(uint64_t draw) const {
  const MixgraphParameters& p = parameters_;
  const double u = static_cast<double>(draw) / static_cast<double>(keys_);
  const int64_t length = Converted(
      std::ceil(ParetoInverse(u, p.iter_theta, p.iter_k, p.iter_sigma)));
  return static_cast<uint64_t>(
      std::max<int64_t>(length % static_cast<int64_t>(p.mix_max_scan_len), 0));
}

MixStep MixgraphStream::Of(uint64_t draw) const {
  MixStep step{OperationOf(draw), KeyOf(draw)};
  if (step.operation == Operation::kPut) step.value_size = ValueSizeOf(draw);
  if (step.operation == Operation::kSeek) step.scan_length = ScanLengthOf(draw);
  return step;
}

MixgraphStream::Means MixgraphStream::ComputeMeans() const {
  constexpr uint64_t kMax = 2'000'000;
  const uint64_t samples = std::min(keys_, kMax);
  const uint64_t hottest = ranges_.Hottest();
  Random random(1);
  Means sums{};
  const auto count = [&sums](Operation type) -> double& {
    return sums.types[static_cast<size_t>(type)];
  };
  // One number of each of the equal parts of all.
  uint64_t first = 0;
  for (uint64_t i = 1; i <= samples; ++i) {
    const auto end = static_cast<uint64_t>(static_cast<unsigned __int128>(i) *
                                           keys_ / samples);
    const uint64_t draw = first + random.Uniform(end - first);
    first = end;
    const Operation type = OperationOf(draw);
    ++count(type);
    if (type == Operation::kSeek) {
      sums.scan_length += static_cast<double>(ScanLengthOf(draw));
    } else if (type == Operation::kPut) {
      sums.value_size += static_cast<double>(ValueSizeOf(draw));
    }
    if (ranges_.total() == 0) continue;
    sums.hottest_range += ranges_.Of(draw % ranges_.total()) == hottest;
  }
  if (count(Operation::kSeek) > 0) sums.scan_length /= count(Operation::kSeek);
  if (count(Operation::kPut) > 0) sums.value_size /= count(Operation::kPut);
  sums.hottest_range /= static_cast<double>(samples);
  for (double& share : sums.types) share /= static_cast<double>(samples);
  return sums;
}

Weights MixgraphWeights(const MixgraphParameters& p) {
  const double sum = p.mix_get_ratio + p.mix_put_ratio + p.mix_seek_ratio;
  Weights weights{};
  weights[static_cast<size_t>(Operation::kGet)] = p.mix_get_ratio / sum;
  weights[static_cast<size_t>(Operation::kPut)] = p.mix_put_ratio / sum;
  weights[static_cast<size_t>(Operation::kSeek)] = p.mix_seek_ratio / sum;
  return weights;
}

CorrectedStream::CorrectedStream(const MixgraphParameters& parameters,
                                 uint64_t keys, uint64_t stream_seed)
    : parameters_(parameters),
      keys_(keys),
      ranges_(parameters),
      types_(MixgraphWeights(parameters), StreamSeed(stream_seed, "type", 0)),
      range_random_(StreamSeed(stream_seed, "range", 0)),
      key_random_(StreamSeed(stream_seed, "key", 0)),
      length_random_(StreamSeed(stream_seed, "length", 0)) {}

uint64_t CorrectedStream::NextKey() {
  const MixgraphParameters& p = parameters_;
  if (!HasKeyHotness(p)) return key_random_.Uniform(keys_);
  const bool ranges = HasKeyRanges(p);
  const uint64_t keys = ranges ? keys_ / p.keyrange_num : keys_;
  const uint64_t first =
      ranges ? keys * ranges_.Of(range_random_.Uniform(ranges_.total())) : 0;
  const uint64_t seed =
      HotnessSeed(key_random_.Unit(), p.key_dist_a, p.key_dist_b);
  return first + Mix64(seed + 0x9e3779b97f4a7c15u) % keys;
}

MixStep CorrectedStream::Next() {
  MixStep step{types_.Next(), NextKey()};
  if (!Scans(step.operation)) return step;
  const MixgraphParameters& p = parameters_;
  const double length = std::ceil(ParetoInverse(
      1 - length_random_.Unit(), p.iter_theta, p.iter_k, p.iter_sigma));
  step.scan_length = static_cast<uint64_t>(
      std::clamp(length, 0.0, static_cast<double>(p.mix_max_scan_len)));
  return step;
}

double MeanScanLength(const MixgraphParameters& p) {
  constexpr int kSamples = 200'000;
  double entries = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double u = (i + 0.5) / kSamples;
    const double length =
        std::ceil(ParetoInverse(u, p.iter_theta, p.iter_k, p.iter_sigma));
    entries += std::clamp(length, 0.0, static_cast<double>(p.mix_max_scan_len));
  }
  return entries / kSamples;
}

}  // namespace kvmatrix
