#include "common/mixes/ycsb_mix.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/mixes/ycsb_theory.h"
#include "common/spec/quantities.h"
#include "common/stream/from_config.h"

namespace kvmatrix {
namespace {

// The operations of one thread of a workload.
class YcsbStream final : public MixStream {
 public:
  // The references outlive the stream.
  YcsbStream(const YcsbWorkload& workload, YcsbChooser chooser,
             YcsbRecords& records, uint64_t stream_seed)
      : chooser_(std::move(chooser)),
        records_(records),
        types_(workload.weights, StreamSeed(stream_seed, "type", 0)),
        keys_(StreamSeed(stream_seed, "key", 0)),
        lengths_(StreamSeed(stream_seed, "length", 0)) {}

  MixStep Next() override {
    MixStep step{types_.Next(), 0};
    step.key = step.operation == Operation::kInsert
                   ? records_.Insert()
                   : records_.KeyOf(chooser_.Next(keys_, records_.present()));
    if (Scans(step.operation)) {
      step.scan_length = 1 + lengths_.Uniform(kMaxYcsbScan);
    }
    return step;
  }

  void Done(const MixStep& step) override {
    if (step.operation == Operation::kInsert) records_.Acknowledge();
  }

 private:
  YcsbChooser chooser_;
  YcsbRecords& records_;
  OperationChooser types_;
  Random keys_;
  Random lengths_;
};

}  // namespace

YcsbRecords::YcsbRecords(const RecordOrder& order, uint64_t present,
                         const Config& config, Oracle* oracle)
    : order_(order),
      capacity_(config.key_shape().capacity()),
      oracle_(oracle),
      inserts_(present) {}

uint64_t YcsbRecords::Insert() {
  const uint64_t ordinal = inserts_.Take();
  const uint64_t key_space = order_.KeySpaceFor(ordinal + 1);
  if (key_space > capacity_) {
    throw std::runtime_error(
        "no key of --key_size is left to insert; choose a larger one, or "
        "--key_format=big");
  }
  if (oracle_ != nullptr) oracle_->Grow(key_space);
  return order_(ordinal);
}

void YcsbRecords::Acknowledge() {
  inserts_.Acknowledge([this](uint64_t ordinal) {
    // Observe() and not Version(): with acquire order, whoever sees the record
    // as present can also read it from the engine.
    return oracle_ == nullptr || oracle_->Observe(order_(ordinal)).version != 0;
  });
}

// Checks up to 1,000 records from either end: enough to detect another key
// order or a load that was cut short, without reading the whole table.
void RequireYcsbLoad(const Config& config, const Oracle& oracle,
                     const RecordOrder& order, uint64_t records) {
  constexpr uint64_t kLooks = 1000;
  const bool same_keys = oracle.key_space() >= YcsbKeySpace(config.num);
  bool loaded = same_keys && records >= kMinYcsbRecords;
  const uint64_t step = records / kLooks + 1;
  for (uint64_t i = 0; loaded && i < records; i += step) {
    loaded = oracle.Record(order(i)) != 0 &&
             oracle.Record(order(records - 1 - i)) != 0;
  }
  if (loaded) return;
  if (same_keys && records >= kMinYcsbRecords && records < config.num) {
    throw std::runtime_error(
        "the load stopped at " + std::to_string(records) + " of " +
        std::to_string(config.num) +
        " records, each of its threads at a different position, so records are "
        "missing in between; load all records, without --duration, or load "
        "with one thread");
  }
  throw std::runtime_error(
      "needs a database filled by ycsbload with the same --num, --seed and "
      "--insert_order");
}

YcsbMix::YcsbMix(const Benchmark& benchmark, const Config& config,
                 Oracle& oracle)
    : Mix(oracle),
      benchmark_(benchmark),
      config_(config),
      workload_(*FindYcsb(benchmark.name)),
      request_(RequestOf(workload_, config.key_distribution).value()),
      order_(config),
      at_start_(oracle.Entries()),
      records_(order_, at_start_, config, &oracle) {
  UseTable(workload_.weights);
  RequireYcsbLoad(config, oracle, order_, at_start_);
}

std::unique_ptr<MixStream> YcsbMix::NewStream(uint64_t stream_seed,
                                              const ThreadShare& thread_share) {
  return std::make_unique<YcsbStream>(workload_, NewChooser(), records_,
                                      thread_share.SeedOf(stream_seed));
}

bool YcsbMix::UpdatesGet() const {
  return kvmatrix::UpdatesGet(benchmark_, config_);
}

std::string YcsbMix::Label() const {
  std::string label(RequestLabel(request_));
  if (workload_.weights[static_cast<size_t>(Operation::kUpdate)] > 0) {
    label += UpdatesGet() ? "; an update is a get and a put"
                          : "; an update is a put";
  }
  if (config_.value_size != kYcsbRecord) {
    label += "; YCSB's records have 1000 bytes";
  }
  return label;
}

std::vector<Share> YcsbMix::Shares(uint64_t stream_seed,
                                   uint64_t operations) const {
  YcsbRecords records(order_, at_start_, config_, nullptr);
  YcsbStream stream(workload_, NewChooser(), records, stream_seed);
  CheckedRecords checked(NewChooser(), at_start_);
  Weights types{};
  double scanned = 0;
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream.Next();
    ++types[static_cast<size_t>(step.operation)];
    scanned += static_cast<double>(step.scan_length);
    if (step.operation != Operation::kInsert) {
      checked.Count(order_.Inverse(step.key), records.present());
    }
    stream.Done(step);
  }
  std::vector<Share> shares;
  AddTypeShares(workload_.weights, types, shares);
  if (checked.draws() > 0) shares.push_back(checked.Result());
  const double scans = types[static_cast<size_t>(Operation::kScan)];
  if (scans > 0) {
    shares.push_back({"mean scan length, entries", scanned / scans,
                      (kMaxYcsbScan + 1) / 2.0});
  }
  return shares;
}

YcsbChooser YcsbMix::NewChooser() const {
  return ChooserOf(request_, at_start_, workload_.weights, config_);
}

YcsbChooser ChooserOf(YcsbRequest request, uint64_t records,
                      const Weights& weights, const Config& config) {
  return YcsbChooser(
      request, records,
      ExpectedInserts(config.reads * config.threads,
                      weights[static_cast<size_t>(Operation::kInsert)]),
      DrawOf(KeyOrder::kUniform, config));
}

}  // namespace kvmatrix
