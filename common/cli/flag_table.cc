#include "common/cli/flags.h"
#include "common/run/passes.h"
#include "common/spec/durability.h"
#include "common/spec/quantities.h"
#include "common/stream/leveldb_stream.h"
#include "common/stream/value_sizes.h"

namespace kvmatrix {
namespace {

#define FIELD(member) \
  [](CommandLine& line) -> FlagField { return &line.member; }

// What a result line has, made of `config` and `benchmark`.
#define OPTION(value)                                            \
  [](const Config& config,                                       \
     [[maybe_unused]] const Benchmark& benchmark) -> FlagValue { \
    return value;                                                \
  }

#define NAMED(flag, member) .name = #flag, .field = FIELD(member)

// The flag of the same name as a field of Config.
#define CONFIG(member) NAMED(member, config.member)

#define PROCESS(member, its_help) \
  {.name = #member, .field = FIELD(member), .group = kProcess, .help = its_help}
#define PROCESS_CONFIG(member, its_help) \
  {CONFIG(member), .group = kProcess, .help = its_help}

// A bound of the sizes of values.
#define SIZE_BOUND(member, its_help)                            \
  {CONFIG(member),                                              \
   .group = kValues,                                            \
   .help = its_help,                                            \
   .range = {0, ValueSizes::kLargest},                          \
   .unit = "bytes each",                                        \
   .only_with = {"value_size_distribution_type", kOfManySizes}, \
   .not_replayed = kNothingLikeIt,                              \
   .option = #member}

// A flag that a result line has only if it was set.  Further members of Flag
// follow the help.
#define IF_SET(flag, member, its_group, its_help, ...) \
  {.name = #flag,                                      \
   .field = FIELD(config.member),                      \
   .group = its_group,                                 \
   .help = its_help __VA_OPT__(, ) __VA_ARGS__,        \
   .option = #flag,                                    \
   .option_if_set = true}

// A flag of mixgraph is named as its parameter is.
#define MIXGRAPH(parameter, its_group, its_range, its_help)      \
  IF_SET(parameter, mix.mixgraph.parameter, its_group, its_help, \
         .range = its_range)

// A time of the work, in seconds.
#define SECONDS(flag, its_help, why_not_replayed, if_set) \
  {.name = #flag,                                         \
   .field = FIELD(flag##_s),                              \
   .group = kWorkload,                                    \
   .help = its_help,                                      \
   .range = {0, 999'999'999},                             \
   .unit = "seconds",                                     \
   .not_replayed = why_not_replayed,                      \
   .option = #flag "_s",                                  \
   .option_if_set = if_set,                               \
   .option_value = OPTION(static_cast<double>(config.flag##_ns) / 1e9)}

using enum FlagGroup;
using Names = std::vector<std::string_view>;
constexpr double kNone = FlagRange::kNone;
constexpr double kBillion = 1e9;
constexpr double kMostMemory = 0x1p44;  // 16 TiB
constexpr FlagRange kFinite = {-kBillion, kBillion};
constexpr FlagRange kPositive = {1e-6, kBillion};
constexpr FlagRange kNotNegative = {0, kBillion};
constexpr FlagRange kUpToAMillion = {1, 1'000'000};
constexpr FlagRange kShape = {-1e3, 1e3};
constexpr FlagRange kValueBytes = {kMinMixgraphValue, 65'535};
constexpr FlagRange kMilliseconds = {1, kBillion};

constexpr char kNothingLikeIt[] = "that program has no such option";

constexpr std::string_view kByTheta[] = {"zipf", "latest"};
constexpr std::string_view kHotspot[] = {"hotspot"};
constexpr std::string_view kExponential[] = {"exponential"};
constexpr std::string_view kOfManySizes[] = {"uniform", "normal", "pareto"};

template <typename Value>
Names NamesOf(std::string_view (*name)(Value),
              std::initializer_list<Value> values) {
  Names names;
  for (const Value value : values) names.push_back(name(value));
  return names;
}

Names KeyFormats() {
  return NamesOf(KeyFormatName,
                 {KeyFormat::kDecimal, KeyFormat::kBig, KeyFormat::kLittle});
}

Names KeyDistributions() {
  Names names = {""};
  for (const std::string_view name : KeyOrderNames()) {
    if (FindKeyOrder(name)) names.push_back(name);
  }
  return names;
}

Names SizeLaws() {
  return NamesOf(SizeLawName, {SizeLaw::kFixed, SizeLaw::kUniform,
                               SizeLaw::kNormal, SizeLaw::kPareto});
}

Names Streams() {
  return NamesOf(StreamName, {StreamKind::kOwn, StreamKind::kDbBench,
                              StreamKind::kDbBenchOneSeed});
}

const Flag kFlags[] = {
    PROCESS(benchmarks, "benchmarks to run, in this order"),
    {CONFIG(num), .group = kWorkload,
     .help = "number of entries in the database", .range = {1, kMaxKeys},
     .option = "num"},
    {NAMED(reads, reads), .group = kWorkload,
     .help = "operations of a read benchmark; -1 means --num",
     .range = {1, kMaxKeys, -1}, .option = "reads", .by_benchmark = true,
     .option_value = OPTION(config.reads)},
    SECONDS(duration,
            "time limit of a benchmark; 0 means none. Without --reads, it "
            "alone ends gets, seeks, overwrites, random deletes and mixes",
            nullptr, false),
    SECONDS(min_time,
            "repeat the benchmark in passes until its loops and flushes have "
            "taken this many seconds",
            kNothingLikeIt, true),
    SECONDS(warmup, "seconds of gets, seeks and mixes before they are measured",
            kNothingLikeIt, true),
    {NAMED(stream, stream), .group = kWorkload, .help = kStreamHelp,
     .choices = Streams, .option = "stream",
     .option_value = OPTION(std::string(StreamName(config.stream)))},
    {CONFIG(key_size), .group = kKeys, .help = "size of a key",
     .range = {KeyShape::kSmallest, KeyShape::kLargest}, .unit = "bytes each",
     .option = "key_size"},
    {NAMED(key_format, key_format), .group = kKeys,
     .help = "decimal means digits with leading zeros; big and little mean "
             "8-byte integers in that byte order, padded with zero bytes",
     .choices = KeyFormats, .not_replayed = kNothingLikeIt,
     .option = "key_format",
     .option_value = OPTION(std::string(KeyFormatName(config.key_format)))},
    {CONFIG(key_distribution), .group = kKeys,
     .help = "distribution of random keys; empty means the benchmark's own",
     .choices = KeyDistributions, .not_replayed = kNothingLikeIt,
     .option = "key_distribution"},
    {CONFIG(zipf_theta), .group = kKeys,
     .help = "exponent of the zipf and latest distributions",
     .range = {0.01, 10}, .only_with = {"key_distribution", kByTheta},
     .option = "zipf_theta"},
    IF_SET(hotspot_data_fraction, hotspot.data, kKeys,
           "fraction of the records that is the hot spot: the first of the "
           "load",
           .range = {0, 1}, .only_with = {"key_distribution", kHotspot}),
    IF_SET(hotspot_operation_fraction, hotspot.operations, kKeys,
           "fraction of the operations that fall on the hot spot",
           .range = {0, 1}, .only_with = {"key_distribution", kHotspot}),
    IF_SET(exponential_percentile, exponential.percentile, kKeys,
           "percentage of the operations that fall on the newest records, a "
           "fraction --exponential_fraction of all",
           .range = {0.001, 99.999},
           .only_with = {"key_distribution", kExponential}),
    IF_SET(exponential_fraction, exponential.fraction, kKeys,
           "see --exponential_percentile", .range = {0.001, 1000},
           .only_with = {"key_distribution", kExponential}),
    {CONFIG(value_size), .group = kValues,
     .help = "size of a value; the mean if sizes vary",
     .range = {0, ValueSizes::kLargest, kNone, 1}, .unit = "bytes each",
     .option = "value_size", .by_benchmark = true,
     .option_value = OPTION(ValueSizeOf(benchmark, config))},
    {NAMED(value_size_distribution_type, value_size_distribution_type),
     .group = kValues,
     .help =
         "distribution of value sizes; pareto has the shape --value_k and a "
         "scale that makes --value_size the mean, or the scale "
         "--value_sigma if that is given",
     .choices = SizeLaws, .not_replayed = kNothingLikeIt,
     .option = "value_size_distribution_type",
     .option_value = OPTION(std::string(SizeLawName(config.value_size_law)))},
    SIZE_BOUND(value_size_min, "smallest size; 0 derives it from --value_size"),
    SIZE_BOUND(value_size_max, "largest size; 0 derives it from --value_size"),
    {CONFIG(compression_ratio), .group = kValues,
     .help = "size to which a simple compressor shrinks a value, as a fraction "
             "of its size",
     .range = {0, 1}, .option = "compression_ratio"},
    {CONFIG(batch_size), .group = kWorkload,
     .help = "entries written as one atomic batch",
     .range = {1, kMaxBatchEntries}, .not_replayed = kNothingLikeIt,
     .option = "batch_size", .by_benchmark = true,
     .option_value = OPTION(BatchSizeOf(benchmark, config))},
    {CONFIG(transactions), .group = kWorkload,
     .help =
         "approximate number of batches: each has the entries of the "
         "benchmark divided by this number, rounded down, but at least one; "
         "0 means batches of --batch_size",
     .range = {0, kMaxKeys}, .only_with = {"batch_size"},
     .not_replayed = kNothingLikeIt, .option = "transactions"},
    {CONFIG(threads), .group = kPace,
     .help = "number of threads; each performs --reads reads, and they share "
             "the entries to write, each the keys that are its own",
     .range = {1, kMaxThreads},
     .not_replayed =
         "that program's threads overwrite one another's keys in an unknown "
         "order, so no answer could be verified",
     .option = "threads"},
    {NAMED(rate, config.rate_ops_per_sec), .group = kPace,
     .help = "run an open loop of this many operations per second, at Poisson "
             "times, and print a histogram; 0 means a closed loop",
     .range = {0.01, kBillion, 0}, .unit = "operations per second",
     .only_with = {"sine_mix_rate"}},
    {CONFIG(rate_share), .group = kPace,
     .help = "run an open loop at this share of the rate of the --warmup, "
             "which is then a closed loop; 0 means none",
     .range = {0.01, 10, 0}, .only_with = {"rate"},
     .not_replayed = kNothingLikeIt},
    {CONFIG(writes_per_second), .group = kPace,
     .help = "rate of the writer of *whilewriting benchmarks; 0 means no limit",
     .range = {0, kBillion}, .option = "writes_per_second"},
    {CONFIG(readwritepercent), .group = kPace,
     .help = "percentage of gets in readrandomwriterandom", .range = {0, 100},
     .option = "readwritepercent"},
    {CONFIG(seek_nexts), .group = kWorkload,
     .help = "entries that each seek of a seek* benchmark reads after the "
             "first one",
     .range = {0, 1'000'000}, .not_replayed = kNothingLikeIt,
     .option = "seek_nexts", .option_if_set = true},
    {CONFIG(reverse_iterator), .group = kWorkload,
     .help = "seek the entry at or before a key, and read backward",
     .not_replayed = kNothingLikeIt, .option = "reverse_iterator",
     .option_if_set = true},
    {CONFIG(cache_size), .group = kEngine,
     .help = "size of the engine's cache; if not set, 8388608 with a "
             "--stream whose program has that default",
     .range = {0, kMostMemory}, .unit = "bytes", .option = "cache_size_bytes"},
    {CONFIG(compression), .group = kEngine,
     .help = "compress entries if the engine has a codec",
     .option = "compression"},
    {NAMED(sync, sync), .group = kEngine,
     .help = "make each write durable before it returns: --durability=durable",
     .option = "sync", .by_benchmark = true,
     .option_value =
         OPTION(DurabilityOf(benchmark, config) == Durability::kDurable)},
    {NAMED(durability, durability), .group = kEngine,
     .help = "what a crash of the machine may cost: buffered means what the "
             "engine documents, even the whole database; consistent means the "
             "newest writes; durable means nothing that was acknowledged",
     .choices =
         [] { return Names(kDurabilityNames.begin(), kDurabilityNames.end()); },
     .option = "durability", .by_benchmark = true,
     .option_value =
         OPTION(std::string(DurabilityName(DurabilityOf(benchmark, config))))},
    IF_SET(mix_shares, mix.mix_shares, kMix,
           "percentage of each operation of mix, such as "
           "read:70,update:20,scan:10; the operations are read, missing (get "
           "a key that was never present), scan, scanreverse, update (put), "
           "readmodifywrite, insert and delete"),
    IF_SET(scan_length, mix.scan_length, kMix,
           "entries that a scan of mix visits", .range = kUpToAMillion,
           .unit = "entries"),
    IF_SET(min_scan_length, mix.min_scan_length, kMix,
           "smallest number of entries that a scan of mix visits, with "
           "--max_scan_length",
           .range = kUpToAMillion, .unit = "entries"),
    IF_SET(max_scan_length, mix.max_scan_length, kMix,
           "largest such number: each scan has a length of its own; 0 means "
           "--scan_length entries each",
           .range = {0, 1'000'000}, .unit = "entries"),
    IF_SET(
        scan_length_distribution, mix.scan_length_distribution, kMix,
        "how these lengths are drawn; zipf is YCSB's generator, the "
        "smallest most often",
        .choices = [] { return Names{"uniform", "zipf"}; }),
    {NAMED(writeallfields, config.mix.writeallfields), .group = kYcsb,
     .help = "write the whole record in an update, without reading it first",
     .option = "writeallfields"},
    IF_SET(fieldcount, mix.fieldcount, kYcsb,
           "fields of a record, which has --value_size bytes in all; an "
           "update changes one field, so with two or more it reads the record "
           "first; 0 means ten in ycsba to ycsbf, as in YCSB, and one in mix",
           .range = {0, 1'000'000}),
    IF_SET(
        insert_order, mix.insert_order, kYcsb,
        "order in which ycsbload and inserts add keys: hashed means "
        "random, each key once; ordered means ascending",
        .choices = [] { return Names{"hashed", "ordered"}; }),
    PROCESS(db,
            "directory in which db_bench_ENGINE, the database, is created; its "
            "parent must exist; default: kvmatrix-UID in the directory for "
            "temporary files"),
    PROCESS_CONFIG(use_existing_db,
                   "use the database in --db instead of a new one"),
    PROCESS(after,
            "with --use_existing_db: the benchmarks already run on the "
            "database, such as filluniquerandom,overwrite:5000 (with the "
            "number of operations if it stopped early) or "
            "overwrite:2500+2500 (if two threads wrote)"),
    PROCESS_CONFIG(
        settle,
        "settle the database after a writing benchmark; off by default "
        "with a replayed --stream, whose programs do not settle"),
    {CONFIG(passes), .group = kProcess,
     .help = "with --min_time: make this many passes, however long they take; "
             "0 means until that time is over",
     .range = {0, kMostPasses}},
    PROCESS_CONFIG(
        watch_idle,
        "after settling, watch for half a second instead of 10 ms whether "
        "the engine works on"),
    PROCESS_CONFIG(
        crash,
        "kill this process (SIGKILL) once the last benchmark has flushed: "
        "nothing is settled or closed, and a forked process reports"),
    PROCESS_CONFIG(histogram, "time each operation and print a histogram"),
    PROCESS_CONFIG(seed, "seed of all random choices"),
    PROCESS(json, "append one JSON line per benchmark to this file"),
    PROCESS(progress,
            "keep the number of operations so far in this file, as an 8-byte "
            "integer in native byte order"),
    PROCESS(device_stat,
            "record the counters of a disk, from its file in /sys/block/"),
    MIXGRAPH(keyrange_dist_a, kMixgraph, kFinite,
             "hotness of key range x is a exp(b x) + c exp(d x); if all four "
             "are 0, there are no ranges"),
    MIXGRAPH(keyrange_dist_b, kMixgraph, kFinite, "see --keyrange_dist_a"),
    MIXGRAPH(keyrange_dist_c, kMixgraph, kFinite, "see --keyrange_dist_a"),
    MIXGRAPH(keyrange_dist_d, kMixgraph, kFinite, "see --keyrange_dist_a"),
    MIXGRAPH(keyrange_num, kMixgraph, kUpToAMillion,
             "number of key ranges, all of equal size"),
    MIXGRAPH(key_dist_a, kMixgraph, kNotNegative,
             "hotness of a key is a x^b; if either is 0, keys are uniform"),
    MIXGRAPH(key_dist_b, kMixgraph, kNotNegative, "see --key_dist_a"),
    MIXGRAPH(value_theta, kMixgraph, kNotNegative,
             "location of mixgraph's generalized Pareto distribution of value "
             "sizes, in bytes"),
    MIXGRAPH(value_k, kMixgraph, kShape, "its shape"),
    MIXGRAPH(value_sigma, kMixgraph, kPositive, "its scale, in bytes"),
    MIXGRAPH(iter_theta, kMixgraph, kNotNegative,
             "location of the same for scan lengths, in entries"),
    MIXGRAPH(iter_k, kMixgraph, kShape, "its shape"),
    MIXGRAPH(iter_sigma, kMixgraph, kPositive, "its scale, in entries"),
    MIXGRAPH(mix_get_ratio, kMixgraph, kNotNegative, "weight of gets"),
    MIXGRAPH(mix_put_ratio, kMixgraph, kNotNegative, "weight of puts"),
    MIXGRAPH(mix_seek_ratio, kMixgraph, kNotNegative, "weight of scans"),
    MIXGRAPH(mix_max_scan_len, kMixgraph, kUpToAMillion,
             "largest scan length, in entries"),
    {NAMED(mix_max_value_size, config.mix.mixgraph.mix_max_value_size),
     .group = kMixgraph, .help = "largest value size", .range = kValueBytes,
     .unit = "bytes each", .option = "mix_max_value_size",
     .option_if_set = true},
    MIXGRAPH(sine_mix_rate, kSwing, {},
             "run an open loop at a * sin(b * t + c) + d operations per second "
             "after t seconds, with --sine_a to --sine_d"),
    MIXGRAPH(sine_a, kSwing, kFinite, "see --sine_mix_rate"),
    MIXGRAPH(sine_b, kSwing, kFinite, "see --sine_mix_rate"),
    MIXGRAPH(sine_c, kSwing, kFinite, "see --sine_mix_rate"),
    MIXGRAPH(sine_d, kSwing, kFinite, "see --sine_mix_rate"),
    MIXGRAPH(sine_mix_rate_interval_milliseconds, kSwing, kMilliseconds,
             "milliseconds for which a rate is held"),
};

#undef MIXGRAPH
#undef IF_SET
#undef SIZE_BOUND
#undef CONFIG
#undef NAMED
#undef OPTION
#undef FIELD

}  // namespace

std::span<const Flag> AllFlags() { return kFlags; }

}  // namespace kvmatrix
