#include "common/mixes/share_mix.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/mixes/ycsb.h"
#include "common/mixes/ycsb_mix.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

constexpr auto kDeletes = static_cast<size_t>(Operation::kDelete);

Weights WeightsOf(const Benchmark& benchmark, const Config& config) {
  if (IsShareMix(benchmark)) return config.mix.shares;
  const double gets = static_cast<double>(config.readwritepercent) / 100;
  return {gets, 1 - gets};
}

}  // namespace

// The operations of one thread.  Types come from a stream of their own, so that
// what is done with a key is independent of the key.
class ShareStream final : public MixStream {
 public:
  // `mix` outlives the stream.
  ShareStream(ShareMix& mix, uint64_t stream_seed,
              const ThreadShare& thread_share)
      : mix_(mix),
        thread_share_(thread_share),
        keys_(DrawOf(mix.benchmark_, mix.config_, nullptr), mix.records_,
              stream_seed, thread_share),
        types_(mix.weights_,
               StreamSeed(thread_share.SeedOf(stream_seed), "operations", 0)) {
    for (MixStep& step : ahead_) step = Draw();
  }

  MixStep Next() override {
    MixStep step = std::exchange(ahead_[next_], Draw());
    next_ = (next_ + 1) % ahead_.size();
    // Not ahead: a record that is taken is inserted.
    if (step.operation == Operation::kInsert) {
      step.key = mix_.KeyOf(mix_.TakeInsert());
    }
    return step;
  }

 private:
  MixStep Draw() {
    MixStep step{types_.Next(), 0};
    if (step.operation == Operation::kInsert) return step;
    uint64_t record = keys_.Next();
    if (Writes(step.operation)) {
      record = thread_share_.OwnOf(record, mix_.records_);
    }
    step.key = mix_.KeyOf(record);
    if (Scans(step.operation)) step.scan_length = mix_.config_.mix.scan_length;
    mix_.oracle_.Prefetch(step.key);
    return step;
  }

  ShareMix& mix_;
  const ThreadShare thread_share_;
  KeyStream keys_;
  OperationChooser types_;
  std::array<MixStep, 32> ahead_;
  size_t next_ = 0;
};

ShareMix::ShareMix(const Benchmark& benchmark, const Config& config,
                   Oracle& oracle)
    : Mix(oracle),
      benchmark_(benchmark),
      config_(config),
      weights_(WeightsOf(benchmark, config)),
      order_(IsShareMix(benchmark) ? std::optional(YcsbOrder(config, oracle))
                                   : std::nullopt),
      records_(order_ ? config.num : oracle.key_space()),
      next_insert_(records_) {
  oracle.UseTable();
  if (!order_) return;
  RequireYcsbLoad(benchmark, config, oracle, *order_, records_);
  // Those that earlier runs have inserted.
  while (next_insert_ < oracle.key_space() &&
         oracle.Record(KeyOf(next_insert_)) != 0) {
    ++next_insert_;
  }
}

std::unique_ptr<MixStream> ShareMix::NewStream(
    uint64_t stream_seed, const ThreadShare& thread_share) {
  return std::make_unique<ShareStream>(*this, stream_seed, thread_share);
}

uint64_t ShareMix::TakeInsert() {
  const uint64_t record = next_insert_.fetch_add(1, std::memory_order_relaxed);
  if (record < oracle_.key_space()) return record;
  throw std::runtime_error(
      "no record is left to insert; lower --reads or the share of inserts, or "
      "raise --num");
}

std::string ShareMix::Label() const {
  if (!order_) return "";
  const std::string& keys = config_.key_distribution;
  return SharesText(weights_) + "; " + (keys.empty() ? "uniform" : keys) +
         " keys";
}

bool ShareMix::Deletes() const { return weights_[kDeletes] > 0; }

std::vector<Share> ShareMix::Shares(uint64_t stream_seed,
                                    uint64_t operations) const {
  std::vector<Share> shares;
  if (!order_) return shares;
  OperationChooser types(weights_, StreamSeed(stream_seed, "operations", 0));
  Weights counts{};
  for (uint64_t i = 0; i < operations; ++i) {
    ++counts[static_cast<size_t>(types.Next())];
  }
  AddTypeShares(weights_, counts, shares);
  return shares;
}

}  // namespace kvmatrix
