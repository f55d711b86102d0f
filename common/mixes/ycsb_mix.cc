#include "common/mixes/ycsb_mix.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

#include "common/mixes/key_space.h"

namespace kvmatrix {
namespace {

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

// The ordinals of the most frequent ranks.
using Ordinals = std::unordered_set<uint64_t>;

Ordinals HottestOrdinals(const YcsbChooser& chooser, uint64_t ranks) {
  Ordinals ordinals;
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    ordinals.insert(chooser.OrdinalOf(rank));
  }
  return ordinals;
}

// The number of records at the start and at the end of a run, which grows
// evenly in between.
struct Growth {
  uint64_t first;
  uint64_t last;

  // Returns the part of the run during which an ordinal is present.
  double Presence(uint64_t ordinal) const {
    if (ordinal < first) return 1;
    if (ordinal >= last) return 0;
    return static_cast<double>(last - ordinal) /
           static_cast<double>(last - first);
  }
};

// Returns the expected share of draws that yield one of the ordinals of the
// first `ranks`, given that draws of absent records are repeated.
double ExpectedHottestShare(const YcsbChooser& chooser, const Ordinals& hottest,
                            uint64_t ranks, Growth growth) {
  // YCSB's hash spreads neighbouring ranks less evenly than a random function
  // would, so many more of them are counted one by one.
  constexpr uint64_t kMany = 300'000;
  const bool merges = chooser.MergesRanks();
  const uint64_t counted = merges ? std::max(ranks, kMany) : ranks;
  double hot = 0, other = 0, rest = 1;
  for (uint64_t rank = 0; rank < counted; ++rank) {
    const double share = chooser.ShareOf(rank);
    const uint64_t ordinal = chooser.OrdinalOf(rank);
    rest -= share;
    (hottest.contains(ordinal) ? hot : other) +=
        share * growth.Presence(ordinal);
  }
  // The remaining ranks fall on any ordinal, or on any other ordinal.
  double there = 0;
  for (const uint64_t ordinal : hottest) there += growth.Presence(ordinal);
  const double each =
      rest / static_cast<double>(chooser.items() - (merges ? 0 : ranks));
  if (merges) hot += each * there;
  other += each * (static_cast<double>(growth.first + growth.last) / 2 - there);
  return hot / (hot + other);
}

// The operations that a thread would perform on its own, counted.
struct Tally {
  Weights types{};  // operations
  double scanned = 0;
  double hottest = 0;  // lookups of the hottest or newest records
  double lookups = 0;  // operations other than inserts
};

}  // namespace

YcsbMix::YcsbMix(const Benchmark& benchmark, const Config& config,
                 Oracle& oracle)
    : Mix(oracle),
      benchmark_(benchmark),
      config_(config),
      workload_(*FindYcsb(benchmark.name)),
      request_(RequestOf(workload_, config.key_distribution).value()),
      order_(YcsbOrder(config, oracle)),
      records_(oracle.Entries()),
      inserts_(records_, oracle.key_space()) {
  oracle.UseTable();
  RequireYcsbLoad(benchmark, config, oracle, order_, records_);
}

Permutation YcsbOrder(const Config& config, const Oracle& oracle) {
  return Permutation(std::max<uint64_t>(oracle.key_space(), 1),
                     YcsbOrderSeed(config.seed));
}

// Checks up to 1,000 records from either end: enough to detect another key
// order or a load that was cut short, without reading the whole table.
void RequireYcsbLoad(const Benchmark& benchmark, const Config& config,
                     const Oracle& oracle, const Permutation& order,
                     uint64_t records) {
  constexpr uint64_t kLooks = 1000;
  const bool same_keys = oracle.key_space() == KeySpaceOf(benchmark, config);
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
      "needs a database filled by ycsbload with the same --num and --seed, and "
      "with the same --reads and --threads if they exceed ten operations per "
      "record");
}

std::unique_ptr<MixStream> YcsbMix::NewStream(uint64_t stream_seed,
                                              const ThreadShare& thread_share) {
  return std::make_unique<YcsbStream>(
      workload_, order_, NewChooser(), inserts_,
      // Observe() and not Version(): with acquire order, whoever sees the
      // record as present can also read it from the engine.
      [this](uint64_t ordinal) {
        return oracle_.Observe(order_(ordinal)).version != 0;
      },
      thread_share.SeedOf(stream_seed));
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
  // At most 100,000, whose ordinals fit into memory.
  const uint64_t ranks = std::clamp<uint64_t>(records_ / 100, 1, 100'000);
  const YcsbChooser chooser = NewChooser();
  const Ordinals hottest =
      chooser.IsLatest() ? Ordinals() : HottestOrdinals(chooser, ranks);
  YcsbInserts inserts(records_, oracle_.key_space());
  YcsbStream stream(
      workload_, order_, chooser, inserts, [](uint64_t) { return true; },
      stream_seed);
  Tally tally;
  for (uint64_t i = 0; i < operations; ++i) {
    const MixStep step = stream.Next();
    ++tally.types[static_cast<size_t>(step.operation)];
    tally.scanned += static_cast<double>(step.scan_length);
    if (step.operation != Operation::kInsert) {
      const uint64_t ordinal = order_.Inverse(step.key);
      ++tally.lookups;
      tally.hottest += chooser.IsLatest()
                           ? ordinal + ranks >= inserts.acknowledged()
                           : hottest.contains(ordinal);
    }
    stream.Done(step);
  }
  const Growth growth{records_, inserts.acknowledged()};
  std::vector<Share> shares;
  AddTypeShares(workload_.weights, tally.types, shares);
  const std::string which =
      ranks * 100 == records_ ? "1 %" : std::to_string(ranks);
  if (tally.lookups > 0 && chooser.IsLatest()) {
    shares.push_back(
        {"newest " + which + " of records", tally.hottest / tally.lookups,
         chooser.ShareOfNewest(ranks, (growth.first + growth.last) / 2)});
  } else if (tally.lookups > 0) {
    shares.push_back({"hottest " + which + " of keys",
                      tally.hottest / tally.lookups,
                      ExpectedHottestShare(chooser, hottest, ranks, growth)});
  }
  const double scans = tally.types[static_cast<size_t>(Operation::kScan)];
  if (scans > 0) {
    shares.push_back({"mean scan length, entries", tally.scanned / scans,
                      (kMaxYcsbScan + 1) / 2.0});
  }
  return shares;
}

YcsbChooser YcsbMix::NewChooser() const {
  return YcsbChooser(
      request_, records_,
      ExpectedInserts(config_.reads * config_.threads, InsertShare(workload_)),
      config_.zipf_theta, StreamSeed(config_.seed, "scatter", 0));
}

}  // namespace kvmatrix
