#include "common/mix_workload.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace kvmatrix {
namespace {

uint64_t OperationsOf(const Config& config) {
  return config.reads * config.threads;
}

double InsertShare(const YcsbWorkload& workload) {
  return workload.weights[static_cast<size_t>(Operation::kInsert)];
}

// The operations of one thread of a workload.
class YcsbStream final : public MixStream {
 public:
  using IsThere = std::function<bool(uint64_t ordinal)>;

  // The references outlive the stream.
  YcsbStream(const YcsbWorkload& workload, const Permutation& order,
             YcsbChooser chooser, YcsbInserts& inserts, IsThere is_there,
             uint64_t stream_seed)
      : order_(order),
        chooser_(std::move(chooser)),
        inserts_(inserts),
        is_there_(std::move(is_there)),
        types_(workload.weights, StreamSeed(stream_seed, "type", 0)),
        keys_(StreamSeed(stream_seed, "key", 0)),
        lengths_(StreamSeed(stream_seed, "length", 0)) {}

  MixStep Next() override {
    MixStep step{types_.Next(), 0};
    const uint64_t ordinal =
        step.operation == Operation::kInsert
            ? inserts_.Take()
            : chooser_.Next(keys_, inserts_.acknowledged());
    step.key = order_(ordinal);
    if (Scans(step.operation)) {
      step.scan_length = 1 + lengths_.Uniform(kMaxYcsbScan);
    }
    return step;
  }

  void Done(const MixStep& step) override {
    if (step.operation == Operation::kInsert) inserts_.Acknowledge(is_there_);
  }

 private:
  const Permutation& order_;
  YcsbChooser chooser_;
  YcsbInserts& inserts_;
  const IsThere is_there_;
  OperationChooser types_;
  Random keys_;
  Random lengths_;
};

}  // namespace

void CheckMix(const Benchmark& benchmark, const Config& config) {
  const bool load = IsYcsbLoad(benchmark);
  const YcsbWorkload* const ycsb = FindYcsb(benchmark.name);
  if (!load && ycsb == nullptr) return;
  const std::string name(benchmark.name);
  if (config.num < kLeastYcsbRecords) {
    throw UsageError("--num: " + name + " needs at least " +
                     std::to_string(kLeastYcsbRecords) + " records");
  }
  const uint64_t keys = KeySpaceOf(benchmark, config);
  if (keys > config.key_shape().capacity()) {
    throw UsageError("--key_size: " + name + " spreads the records over " +
                     std::to_string(keys) +
                     " keys, which need more digits; give a larger one");
  }
  if (load || RequestOf(*ycsb, config.key_distribution)) return;
  throw UsageError("--key_distribution: " + name +
                   " knows uniform, zipf, ycsb-zipf and latest, not '" +
                   config.key_distribution + "'");
}

std::string MixLabel(const Benchmark& benchmark, const Config& config) {
  const YcsbWorkload* const ycsb = FindYcsb(benchmark.name);
  if (ycsb == nullptr) return {};
  std::string label(
      RequestLabel(RequestOf(*ycsb, config.key_distribution).value()));
  if (ycsb->weights[static_cast<size_t>(Operation::kUpdate)] > 0) {
    label += config.mix.writeallfields ? "; an update is a put"
                                       : "; an update is a get and a put";
  }
  if (config.value_size != kYcsbRecord) {
    label += "; YCSB's records have 1000 bytes";
  }
  return label;
}

Mix::Mix(const Benchmark& benchmark, const Config& config, Oracle& oracle)
    : benchmark_(benchmark),
      config_(config),
      oracle_(oracle),
      ycsb_(FindYcsb(benchmark.name)),
      order_(std::max<uint64_t>(oracle.key_space(), 1),
             YcsbOrderSeed(config.seed)),
      records_(oracle.Entries()) {
  if (ycsb_ == nullptr) {
    throw std::logic_error("no mix is called " + std::string(benchmark.name));
  }
  request_ = RequestOf(*ycsb_, config.key_distribution).value();
  RequireLoaded();
  inserts_.emplace(records_, oracle.key_space());
  oracle.UseTable();
}

// Looks at the first and the last record, and at some between.
void Mix::RequireLoaded() const {
  constexpr uint64_t kLooks = 1000;
  bool loaded = oracle_.key_space() == KeySpaceOf(benchmark_, config_) &&
                records_ >= kLeastYcsbRecords;
  const uint64_t step = records_ / kLooks + 1;
  for (uint64_t i = 0; loaded && i < records_; i += step) {
    loaded = oracle_.Version(order_(i)) != 0 &&
             oracle_.Version(order_(records_ - 1 - i)) != 0;
  }
  if (loaded) return;
  throw std::runtime_error(
      "needs a database that ycsbload has filled, with the same --num and "
      "--seed, and the same --reads and --threads if these are more than ten "
      "operations a record");
}

std::unique_ptr<MixStream> Mix::NewStream(uint64_t stream_seed) {
  return std::make_unique<YcsbStream>(
      *ycsb_, order_, NewChooser(), *inserts_,
      [this](uint64_t ordinal) {
        return oracle_.Version(order_(ordinal)) != 0;
      },
      stream_seed);
}

YcsbChooser Mix::NewChooser() const {
  return YcsbChooser(
      request_, records_,
      ExpectedInserts(OperationsOf(config_), InsertShare(*ycsb_)),
      config_.zipf_theta, StreamSeed(config_.seed, "scatter", 0));
}

void Mix::Replay(uint64_t stream_seed, uint64_t operations) {
  const std::unique_ptr<MixStream> stream = NewStream(stream_seed);
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream->Next();
    if (!Puts(step.operation)) continue;
    oracle_.Put(step.key);
    stream->Done(step);
  }
}

}  // namespace kvmatrix
