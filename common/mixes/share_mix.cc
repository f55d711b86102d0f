#include "common/mixes/share_mix.h"

#include <array>
#include <string>
#include <utility>

#include "common/mixes/ycsb_theory.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"
#include "common/stream/scan_lengths.h"

namespace kvmatrix {
namespace {

Weights WeightsOf(const Benchmark& benchmark, const Config& config) {
  if (IsShareMix(benchmark)) return config.mix.shares;
  const double gets = static_cast<double>(config.readwritepercent) / 100;
  return {gets, 1 - gets};
}

}  // namespace

bool DrawsInserted(const Benchmark& benchmark, const Config& config) {
  return Mixes(Operation::kInsert, benchmark, config) &&
         FindGrowing(config.key_distribution);
}

// The operations of one thread.  Types come from a stream of their own, so that
// what is done with a key is independent of the key.
class ShareStream final : public MixStream {
 public:
  // `mix` and `records` outlive the stream; no records: those of a database
  // that any benchmark has filled.
  ShareStream(const ShareMix& mix, YcsbRecords* records, uint64_t stream_seed,
              const ThreadShare& thread_share)
      : mix_(mix),
        records_(records),
        thread_share_(thread_share),
        keys_(DrawOf(mix.benchmark_, mix.config_, nullptr), mix.drawn_,
              stream_seed, thread_share),
        types_(mix.weights_,
               StreamSeed(thread_share.SeedOf(stream_seed), "operations", 0)),
        lengths_(mix.config_,
                 StreamSeed(thread_share.SeedOf(stream_seed), "length", 0)),
        newer_(StreamSeed(thread_share.SeedOf(stream_seed), "newer", 0)) {
    if (DrawsInserted(mix.benchmark_, mix.config_)) {
      chooser_.emplace(
          ChooserOf(FindGrowing(mix.config_.key_distribution).value(),
                    mix.at_start_, mix.weights_, mix.config_));
    }
    for (MixStep& step : ahead_) step = Draw();
  }

  MixStep Next() override {
    MixStep step = std::exchange(ahead_[next_], Draw());
    next_ = (next_ + 1) % ahead_.size();
    // Not ahead: a record that is taken is inserted, and then others draw it.
    if (step.operation == Operation::kInsert) {
      step.key = records_->Insert();
    } else if (chooser_ && !Writes(step.operation)) {
      step.key = records_->KeyOf(chooser_->Next(newer_, records_->present()));
    }
    return step;
  }

  void Done(const MixStep& step) override {
    if (step.operation == Operation::kInsert) records_->Acknowledge();
  }

 private:
  MixStep Draw() {
    MixStep step{types_.Next(), 0};
    if (step.operation == Operation::kInsert) return step;
    if (Scans(step.operation)) step.scan_length = lengths_.Next();
    if (chooser_ && !Writes(step.operation)) return step;
    uint64_t record = keys_.Next();
    if (Writes(step.operation)) {
      record = thread_share_.OwnOf(record, mix_.drawn_);
    }
    step.key = records_ == nullptr ? record : records_->KeyOf(record);
    mix_.oracle_.Prefetch(step.key);
    return step;
  }

  const ShareMix& mix_;
  YcsbRecords* const records_;
  const ThreadShare thread_share_;
  KeyStream keys_;
  OperationChooser types_;
  ScanLengths lengths_;
  Random newer_;
  std::optional<YcsbChooser> chooser_;  // of keys that follow the inserts
  std::array<MixStep, 32> ahead_;
  size_t next_ = 0;
};

ShareMix::ShareMix(const Benchmark& benchmark, const Config& config,
                   Oracle& oracle)
    : Mix(oracle),
      benchmark_(benchmark),
      config_(config),
      weights_(WeightsOf(benchmark, config)),
      drawn_(IsShareMix(benchmark) ? config.num : oracle.key_space()),
      order_(IsShareMix(benchmark) ? std::optional(RecordOrder(config))
                                   : std::nullopt) {
  UseTable(weights_);
  if (!order_) return;
  RequireYcsbLoad(config, oracle, *order_, drawn_);
  at_start_ = drawn_;
  while (order_->KeySpaceFor(at_start_ + 1) <= oracle.key_space() &&
         oracle.Record((*order_)(at_start_)) != 0) {
    ++at_start_;
  }
  records_.emplace(*order_, at_start_, config, &oracle);
}

std::unique_ptr<MixStream> ShareMix::NewStream(
    uint64_t stream_seed, const ThreadShare& thread_share) {
  return std::make_unique<ShareStream>(*this, records_ ? &*records_ : nullptr,
                                       stream_seed, thread_share);
}

std::string ShareMix::Label() const {
  if (!order_) return "";
  const std::string& keys = config_.key_distribution;
  std::string label =
      SharesText(weights_) + "; " + (keys.empty() ? "uniform" : keys) + " keys";
  if (UpdatesGet()) label += "; an update is a get and a put";
  return label + ScanLengths(config_, 0).Label();
}

bool ShareMix::UpdatesGet() const {
  return kvmatrix::UpdatesGet(benchmark_, config_);
}

bool ShareMix::Deletes() const {
  return weights_[static_cast<size_t>(Operation::kDelete)] > 0;
}

std::vector<Share> ShareMix::Shares(uint64_t stream_seed,
                                    uint64_t operations) const {
  std::vector<Share> shares;
  if (!order_) return shares;
  YcsbRecords records(*order_, at_start_, config_, nullptr);
  ShareStream stream(*this, &records, stream_seed, {});
  std::optional<CheckedRecords> checked;
  if (DrawsInserted(benchmark_, config_)) {
    checked.emplace(ChooserOf(FindGrowing(config_.key_distribution).value(),
                              at_start_, weights_, config_),
                    at_start_);
  }
  Weights counts{};
  double scanned = 0, scans = 0;
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream.Next();
    ++counts[static_cast<size_t>(step.operation)];
    scanned += static_cast<double>(step.scan_length);
    scans += Scans(step.operation);
    if (checked && !Writes(step.operation)) {
      checked->Count(order_->Inverse(step.key), records.present());
    }
    stream.Done(step);
  }
  AddTypeShares(weights_, counts, shares);
  if (checked && checked->draws() > 0) shares.push_back(checked->Result());
  const ScanLengths lengths(config_, 0);
  if (scans > 0 && lengths.drawn()) {
    shares.push_back(
        {"mean scan length, entries", scanned / scans, lengths.Mean()});
  }
  return shares;
}

}  // namespace kvmatrix
