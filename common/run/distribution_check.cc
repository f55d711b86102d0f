#include "common/run/distribution_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>

#include "common/mixes/share_mix.h"
#include "common/random/permutation.h"
#include "common/random/share_theory.h"
#include "common/random/skewed_draws.h"
#include "common/random/zipf.h"
#include "common/spec/benchmark.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

// A set of frequent keys, and the share of draws that the distribution gives
// it.
struct HotSet {
  std::string what;
  double expected;
  std::function<bool(uint64_t)> contains;
};

// The number of most frequent keys to examine, and the name of that set.
struct Head {
  uint64_t count;
  std::string name;
};

// Returns 1, 10, 1 % and 10 % of the keys, in ascending order without
// repetitions.
std::vector<Head> HeadsOf(uint64_t keys) {
  std::vector<Head> heads = {{1, "key"}};
  const Head others[] = {{10, "10 keys"},
                         {keys / 100, "1 % of keys"},
                         {keys / 10, "10 % of keys"}};
  for (const Head& head : others) {
    if (head.count > heads.back().count && head.count < keys) {
      heads.push_back(head);
    }
  }
  return heads;
}

std::vector<HotSet> ZipfSets(const KeyDraw& draw, uint64_t keys) {
  std::vector<HotSet> sets;
  const Permutation scatter(keys, draw.scatter_seed);
  for (const auto& [count, name] : HeadsOf(keys)) {
    sets.push_back({"hottest " + name, ZipfShare(count, keys, draw.zipf_theta),
                    [scatter, n = count](uint64_t key) {
                      return scatter.Inverse(key) < n;
                    }});
  }
  return sets;
}

// Returns the expected share of the newest `count` of `keys` keys, which are
// the highest.
double ShareOfNewest(const KeyDraw& draw, uint64_t count, uint64_t keys) {
  if (draw.order == KeyOrder::kExponential) {
    const Exponential ages(keys, draw.exponential);
    return ages.ShareOfNewest(count) / ages.ShareOfNewest(keys);
  }
  const auto gray = draw.order == KeyOrder::kYcsbLatest
                        ? GrayZipf::OfLatest(keys)
                        : std::nullopt;
  return gray ? gray->ShareBelow(count)
              : ZipfShare(count, keys, draw.zipf_theta);
}

std::vector<HotSet> NewestSets(const KeyDraw& draw, uint64_t keys) {
  std::vector<HotSet> sets;
  for (const auto& [count, name] : HeadsOf(keys)) {
    sets.push_back(
        {"newest " + name, ShareOfNewest(draw, count, keys),
         [first = keys - count](uint64_t key) { return key >= first; }});
  }
  return sets;
}

// As many ranks as there are keys in a head, up to a number whose keys fit into
// memory.
std::vector<HotSet> YcsbZipfSets(uint64_t keys) {
  constexpr uint64_t kMaxRanks = 100'000;
  std::vector<HotSet> sets;
  for (const auto& [count, name] : HeadsOf(keys)) {
    if (count > kMaxRanks) break;
    std::vector<uint64_t> of_ranks(count);
    for (uint64_t rank = 0; rank < count; ++rank) {
      of_ranks[rank] = YcsbZipf::KeyOf(rank, keys);
    }
    std::ranges::sort(of_ranks);
    // Not std::ranges::unique(), which Clang 14 cannot compile.
    of_ranks.erase(std::unique(of_ranks.begin(), of_ranks.end()),
                   of_ranks.end());
    sets.push_back({"keys of the " + std::to_string(count) + " hottest ranks",
                    YcsbZipfShare(of_ranks, keys),
                    [hot = std::move(of_ranks)](uint64_t key) {
                      return std::ranges::binary_search(hot, key);
                    }});
  }
  return sets;
}

std::vector<HotSet> SetsOf(const KeyDraw& draw, uint64_t keys) {
  switch (draw.order) {
    case KeyOrder::kZipf:
      return ZipfSets(draw, keys);
    case KeyOrder::kYcsbZipf:
      return YcsbZipfSets(keys);
    case KeyOrder::kLatest:
    case KeyOrder::kYcsbLatest:
    case KeyOrder::kExponential:
      return NewestSets(draw, keys);
    case KeyOrder::kHotspot: {
      const Hotspot hotspot(keys, draw.hotspot);
      return {{"hot spot", hotspot.share(),
               [hot = hotspot.hot()](uint64_t key) { return key < hot; }}};
    }
    case KeyOrder::kHot:
      return {{"first 1 % of keys", 1,
               [hot = HotKeys(keys)](uint64_t key) { return key < hot; }}};
    default:
      return {};
  }
}

// Returns the number of keys that the benchmark's key stream draws from; 0 if
// it has none, or other draws besides.
uint64_t KeysOf(const RunContext& context) {
  if (DrawsKeys(context.benchmark)) return context.oracle.key_space();
  const bool by_stream = IsShareMix(context.benchmark) &&
                         !DrawsInserted(context.benchmark, context.config);
  return by_stream ? context.config.num : 0;
}

}  // namespace

std::vector<Share> KeyShares(const KeyDraw& draw, uint64_t key_space,
                             uint64_t stream_seed, uint64_t draws) {
  draws = std::min(draws, kMaxDraws);
  std::vector<Share> shares;
  for (const HotSet& set : SetsOf(draw, key_space)) {
    KeyStream keys(draw, key_space, stream_seed);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < draws; ++i) hits += set.contains(keys.Next());
    shares.push_back({set.what,
                      static_cast<double>(hits) / static_cast<double>(draws),
                      set.expected, draws});
  }
  return shares;
}

std::vector<Share> SharesOf(const RunContext& context, uint64_t operations) {
  if (context.replay != nullptr) return {};
  const Benchmark& benchmark = context.benchmark;
  std::vector<Share> shares;
  const uint64_t keys = KeysOf(context);
  if (keys > 0 && operations > 0) {
    const ThreadShare first{0, context.config.threads};
    shares =
        KeyShares(DrawOf(benchmark, context.config, nullptr), keys,
                  first.SeedOf(context.stream_seed), first.CountOf(operations));
  }
  if (benchmark.kind == Kind::kCompact || benchmark.kind == Kind::kPrimitive) {
    return shares;
  }
  std::ranges::move(
      SizeShares(context.values, context.oracle, context.stream_seed),
      std::back_inserter(shares));
  return shares;
}

std::vector<Share> SizeShares(const Values& values, const Oracle& oracle,
                              uint64_t stream_seed) {
  if (values.sizes().fixed()) return {};
  KeyStream keys(KeyOrder::kUnique, oracle.key_space(), stream_seed);
  std::vector<size_t> sizes;
  double sum = 0;
  for (uint64_t i = 0; i < std::min(oracle.key_space(), kMaxDraws); ++i) {
    const uint64_t key = keys.Next();
    const uint32_t version = oracle.Version(key);
    if (version == 0) continue;
    sizes.push_back(values.SizeOf(values.Root(key, version)));
    sum += static_cast<double>(sizes.back());
  }
  if (sizes.empty()) return {};
  std::ranges::sort(sizes);
  const auto quantile = [&sizes](double share) {
    const double place = std::ceil(share * static_cast<double>(sizes.size()));
    return static_cast<double>(sizes[static_cast<size_t>(place) - 1]);
  };
  const auto expected = [&values](double share) {
    return static_cast<double>(values.sizes().Quantile(share));
  };
  return {{"mean value size, bytes", sum / static_cast<double>(sizes.size()),
           values.sizes().Mean()},
          {"median value size, bytes", quantile(0.5), expected(0.5)},
          {"99th percentile of value sizes, bytes", quantile(0.99),
           expected(0.99)}};
}

}  // namespace kvmatrix
