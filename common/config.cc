#include "common/config.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <string_view>

#include "common/driver.h"
#include "common/keys.h"
#include "common/leveldb_stream.h"
#include "common/mix_flags.h"
#include "common/mix_workload.h"
#include "common/past.h"
#include "common/zipf.h"

DEFINE_string(benchmarks,
              "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,"
              "readseq,readreverse,compact,readrandom,readseq,readreverse,"
              "fill100K,crc32c,snappycomp,snappyuncomp",
              "benchmarks to run, in this order");
DEFINE_uint64(num, 1'000'000, "entries in a database");
DEFINE_int64(reads, -1, "operations of a read benchmark; -1: --num");
DEFINE_uint64(
    threads, 1,
    "threads that run at once, up to 256: each does --reads reads, and "
    "they divide what is to be written");
DEFINE_uint64(writes_per_second, 0,
              "pace of the one writer of a *whilewriting benchmark; 0: as fast "
              "as it goes");
DEFINE_uint64(readwritepercent, 90,
              "share of gets among the operations of readrandomwriterandom");
DEFINE_uint64(key_size, 16, "bytes in a key, at least 8");
DEFINE_string(key_format, "decimal",
              "decimal: digits with zeros in front; big, little: integers of 8 "
              "bytes in that byte order");
DEFINE_string(key_distribution, "",
              "of benchmarks that draw keys at random: uniform, permutation, "
              "zipf, ycsb-zipf, hot, latest or sequential; empty: their own");
DEFINE_double(zipf_theta, 0.99, "exponent of zipf and latest");
DEFINE_uint64(value_size, 100, "bytes in a value, or their mean");
DEFINE_string(value_size_distribution_type, "fixed",
              "fixed, uniform, normal or pareto (by --value_k, and by "
              "--value_sigma if given)");
DEFINE_uint64(value_size_min, 0,
              "least bytes of a value of no fixed size; 0: by --value_size");
DEFINE_uint64(value_size_max, 0,
              "most bytes of a value of no fixed size; 0: by --value_size");
DEFINE_double(compression_ratio, 0.5,
              "a simple compressor shrinks values to this share");
DEFINE_uint64(batch_size, 1, "entries written as one atomic batch");
DEFINE_uint64(
    transactions, 0,
    "a batch has a benchmark's entries divided by this, rounded down, "
    "at least one: more batches than this where that leaves a rest "
    "or threads divide the entries; 0: batches of --batch_size");
DEFINE_uint64(cache_size, 4 << 20,
              "bytes the engine may use as a cache; 8388608 if not given with "
              "a --stream whose program has that");
DEFINE_bool(compression, true, "compress, if the engine has a codec");
DEFINE_bool(sync, false, "each write is durable when it returns");
DEFINE_bool(settle, true,
            "settle the database after a writing benchmark; with another "
            "--stream than ours only if given, as those programs do not");
DEFINE_uint64(seed, 301, "of every random choice");
DEFINE_double(duration, 0, "seconds after which a benchmark stops; 0: never");
DEFINE_bool(histogram, false, "time each operation and print a histogram");
DEFINE_double(rate, 0,
              "operations per second, at random moments whether or not the "
              "engine keeps up: an open loop, with a histogram; 0: each "
              "begins when the one before has ended");
DEFINE_bool(use_existing_db, false, "keep the database found in --db");
DEFINE_bool(crash, false,
            "end as kill -9 does once the last benchmark has flushed and its "
            "line is written: nothing is settled or closed");
DEFINE_string(after, "",
              "with --use_existing_db: the benchmarks that the "
              "database has been through, such as filluniquerandom,"
              "overwrite:5000 (a number of operations where it stopped early), "
              "or overwrite:2500+2500 where two threads wrote");
DEFINE_string(db, "",
              "directory for the database; default: a directory of "
              "this user's below the one for temporary files");
DEFINE_string(json, "", "file to append one JSON line to per benchmark");
DEFINE_string(progress, "", "file in which to count operations, eight bytes");

namespace kvmatrix {
namespace {

void Require(bool holds, const std::string& message) {
  if (!holds) throw UsageError(message);
}

void CheckRanges() {
  Require(FLAGS_num > 0 && FLAGS_num <= kMaxKeys, "--num: from 1 to 10^16");
  Require(FLAGS_reads == -1 || FLAGS_reads > 0, "--reads: at least 1, or -1");
  Require(FLAGS_threads >= 1 && FLAGS_threads <= kMostThreads,
          "--threads: from 1 to 256");
  Require(FLAGS_writes_per_second <= 1'000'000'000,
          "--writes_per_second: at most 10^9, or 0: as fast as it goes");
  Require(FLAGS_readwritepercent <= 100, "--readwritepercent: from 0 to 100");
  Require(FLAGS_key_size >= KeyShape::kSmallest &&
              FLAGS_key_size <= KeyShape::kLargest,
          "--key_size: from 8 to 1024");
  Require(FLAGS_key_distribution.empty() ||
              FindKeyOrder(FLAGS_key_distribution).has_value(),
          "--key_distribution: uniform, permutation, zipf, ycsb-zipf, hot, "
          "latest or sequential, not '" +
              FLAGS_key_distribution + "'");
  Require(FLAGS_zipf_theta >= 0.01 && FLAGS_zipf_theta <= 10,
          "--zipf_theta: from 0.01 to 10");
  Require(FLAGS_zipf_theta == YcsbZipf::kTheta ||
              FLAGS_key_distribution != "ycsb-zipf",
          "--zipf_theta: YCSB knows no other than 0.99; choose "
          "--key_distribution=zipf");
  Require(gflags::GetCommandLineFlagInfoOrDie("zipf_theta").is_default ||
              FLAGS_zipf_theta == YcsbZipf::kTheta ||
              FLAGS_key_distribution == "zipf" ||
              FLAGS_key_distribution == "latest",
          "--zipf_theta: only with --key_distribution=zipf or latest; nothing "
          "else is drawn by it");
  Require(FLAGS_value_size <= ValueSizes::kLargest,
          "--value_size: at most 2^30");
  Require(FLAGS_compression_ratio >= 0 && FLAGS_compression_ratio <= 1,
          "--compression_ratio: from 0 to 1");
  Require(FLAGS_batch_size > 0 && FLAGS_batch_size <= 1'000'000,
          "--batch_size: from 1 to 1000000");
  Require(FLAGS_duration >= 0 && FLAGS_duration < 1e9,
          "--duration: seconds, not negative");
  Require(
      FLAGS_rate == 0 || (FLAGS_rate >= 0.01 && FLAGS_rate <= 1e9),
      "--rate: operations per second, from 0.01 to 10^9, or 0: closed loop");
  Require(FLAGS_after.empty() != FLAGS_use_existing_db,
          "--use_existing_db and --after go together: --after names the "
          "benchmarks that the database has been through");
  Require(!FLAGS_benchmarks.empty(), "--benchmarks: at least one");
}

KeyFormat KeyFormatFromFlag() {
  for (const KeyFormat format :
       {KeyFormat::kDecimal, KeyFormat::kBig, KeyFormat::kLittle}) {
    if (KeyFormatName(format) == FLAGS_key_format) return format;
  }
  throw UsageError("--key_format: decimal, big or little, not '" +
                   FLAGS_key_format + "'");
}

bool IsGiven(const char* flag) {
  return !gflags::GetCommandLineFlagInfoOrDie(flag).is_default;
}

uint64_t CacheSizeFromFlag(StreamKind stream) {
  const bool theirs = stream == StreamKind::kDbBench && !IsGiven("cache_size");
  return theirs ? kDbBenchCacheSize : FLAGS_cache_size;
}

SizeLaw SizeLawFromFlag() {
  const auto law = FindSizeLaw(FLAGS_value_size_distribution_type);
  Require(law.has_value(),
          "--value_size_distribution_type: fixed, uniform, normal or pareto, "
          "not '" +
              FLAGS_value_size_distribution_type + "'");
  return *law;
}

// Throws UsageError if there are no values of such sizes.
void CheckSizes(const Config& config) {
  if (config.value_size_law == SizeLaw::kFixed) {
    Require(config.value_size_min == 0 && config.value_size_max == 0,
            "--value_size_min and --value_size_max: only with another "
            "--value_size_distribution_type than fixed");
    return;
  }
  Require(config.value_size > 0,
          "--value_size: at least 1 with --value_size_distribution_type");
  const auto& [k, sigma] = config.pareto;
  Require(config.value_size_law != SizeLaw::kPareto ||
              (k >= 0 && (sigma > 0 || k < 1)),
          "--value_k: not negative, and below 1 unless --value_sigma is given");
  const ValueSizes sizes = SizesOf(config, config.value_size);
  Require(sizes.min() <= sizes.max(),
          "--value_size_min: " + std::to_string(sizes.min()) +
              " is above --value_size_max, which is " +
              std::to_string(sizes.max()));
  Require(sizes.max() <= ValueSizes::kLargest,
          "--value_size_max: at most 2^30, not " + std::to_string(sizes.max()));
}

// Throws UsageError if --transactions cannot be.
void CheckTransactions(const Config& config) {
  constexpr uint64_t kMostEntries = 1'000'000;
  if (config.transactions == 0) return;
  Require(!IsGiven("batch_size"),
          "--transactions: not with --batch_size; leave one of them out");
  for (const Benchmark* benchmark : config.benchmarks) {
    const uint64_t entries = BatchSizeOf(*benchmark, config);
    Require(!IsWriting(*benchmark) || entries <= kMostEntries,
            "--transactions: " + std::to_string(entries) +
                " entries in one of " + std::string(benchmark->name) +
                ", and no more than 1000000 may be; ask for more of them");
  }
}

uint64_t LargestKeySpace(const Config& config) {
  uint64_t keys = config.num;
  for (const Benchmark* benchmark : config.benchmarks) {
    keys = std::max(keys, KeySpaceOf(*benchmark, config));
  }
  return keys;
}

// Throws UsageError if the keys of `config` cannot do what it asks for.
void CheckKeys(const Config& config) {
  const uint64_t capacity = config.key_shape().capacity();
  Require(LargestKeySpace(config) <= capacity,
          "--key_size: decimal keys of " + std::to_string(config.key_size) +
              " bytes are no more than " + std::to_string(capacity) +
              "; choose a larger --key_size, a smaller --num or "
              "--key_format=big");
  for (const Benchmark* benchmark : config.benchmarks) {
    Require(!NeedsKeyOrder(*benchmark) || config.key_shape().ordered(),
            "--key_format: " + std::string(benchmark->name) +
                " needs keys in order, and little keys sort otherwise; "
                "choose --key_format=big");
  }
}

std::filesystem::path DefaultDb() {
  return std::filesystem::temp_directory_path() /
         ("kvmatrix-" + std::to_string(geteuid()));
}

std::string FlagLines(bool of_driver) {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::string text;
  for (const auto& flag : flags) {
    const bool common = flag.filename.find("common/") != std::string::npos;
    if (of_driver ? !IsDriverFlag(flag.filename) : !common) continue;
    text += "  --" + flag.name + "=" +
            (flag.default_value.empty() ? "''" : flag.default_value) +
            "\n      " + flag.description + "\n";
  }
  return text;
}

}  // namespace

bool IsDriverFlag(const std::string& file_name) {
  return file_name.find("drivers/") != std::string::npos;
}

ValueSizes SizesOf(const Config& config, uint64_t value_size) {
  const SizeLaw law = config.value_size_law;
  if (law == SizeLaw::kFixed || value_size != config.value_size) {
    return value_size;
  }
  const auto or_else = [](uint64_t given, uint64_t usual) {
    return given == 0 ? usual : given;
  };
  const uint64_t min = config.value_size_min, max = config.value_size_max;
  if (law == SizeLaw::kUniform) {
    return ValueSizes::Uniform(or_else(min, 1),
                               or_else(max, 2 * value_size - 1));
  }
  if (law == SizeLaw::kNormal) {
    const uint64_t least = (value_size + 3) / 4;
    return ValueSizes::Normal(or_else(min, least),
                              or_else(max, 2 * value_size - least));
  }
  const auto& [k, sigma] = config.pareto;
  return ValueSizes::Pareto(
      or_else(min, 1), or_else(max, 32 * value_size), k,
      sigma > 0 ? sigma : static_cast<double>(value_size) * (1 - k));
}

Config ConfigFromFlags() {
  CheckReplayFlags();
  CheckRanges();
  Config config;
  config.num = FLAGS_num;
  config.reads =
      FLAGS_reads < 0 ? FLAGS_num : static_cast<uint64_t>(FLAGS_reads);
  config.key_size = FLAGS_key_size;
  config.key_format = KeyFormatFromFlag();
  config.key_distribution = FLAGS_key_distribution;
  config.zipf_theta = FLAGS_zipf_theta;
  config.value_size = FLAGS_value_size;
  config.value_size_law = SizeLawFromFlag();
  config.value_size_min = FLAGS_value_size_min;
  config.value_size_max = FLAGS_value_size_max;
  config.compression_ratio = FLAGS_compression_ratio;
  config.batch_size = FLAGS_batch_size;
  config.transactions = FLAGS_transactions;
  config.compression = FLAGS_compression;
  config.sync = FLAGS_sync;
  config.seed = FLAGS_seed;
  config.stream = StreamKindFromFlag();
  config.cache_size = CacheSizeFromFlag(config.stream);
  config.settle =
      FLAGS_settle && (config.stream == StreamKind::kOwn || IsGiven("settle"));
  config.threads = FLAGS_threads;
  config.writes_per_second = FLAGS_writes_per_second;
  config.readwritepercent = FLAGS_readwritepercent;
  config.duration_ns = static_cast<uint64_t>(FLAGS_duration * 1e9);
  config.use_existing_db = FLAGS_use_existing_db;
  config.crash = FLAGS_crash;
  config.histogram = FLAGS_histogram;
  config.rate_ops_per_sec = FLAGS_rate;
  config.db = FLAGS_db.empty() ? DefaultDb() : std::filesystem::path(FLAGS_db);
  config.mix = MixFlagsFromCommandLine();
  config.pareto = {
      config.mix.mixgraph.value_k,
      IsGiven("value_sigma") ? config.mix.mixgraph.value_sigma : 0};
  config.json = FLAGS_json;
  config.progress = FLAGS_progress;
  for (const std::string_view name : Split(FLAGS_benchmarks)) {
    const Benchmark* benchmark = Named("benchmarks", name);
    Require(FLAGS_threads == 1 || benchmark->kind != Kind::kCompact,
            "--threads: compact is one call of the engine; run it without");
    Require(FLAGS_rate == 0 || !IsOneCall(*benchmark),
            "--rate: " + std::string(name) +
                " is one call of the engine, which has no rate");
    CheckMix(*benchmark, config);
    config.benchmarks.push_back(benchmark);
  }
  config.after = PastList(FLAGS_after, config);
  CheckKeys(config);
  CheckSizes(config);
  CheckTransactions(config);
  CheckReplay(config);
  return config;
}

std::string HelpText() {
  std::string text = "db_bench_" + std::string(kDriver.name) +
                     ": runs db_bench's workloads on one engine, checks every "
                     "answer, and prints\nmicroseconds per operation.\n\n"
                     "  db_bench_" +
                     kDriver.name +
                     " --benchmarks=fillrandom,readrandom --num=100000\n\n"
                     "Benchmarks:\n";
  size_t width = 0;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    width = std::max(width, benchmark.name.size() + 2);
  }
  for (const Benchmark& benchmark : AllBenchmarks()) {
    std::string name(benchmark.name);
    name.resize(width, ' ');
    text += "  " + name + std::string(benchmark.summary) + "\n";
  }
  text += "\nFlags:\n" + FlagLines(false);
  const std::string driver_flags = FlagLines(true);
  if (!driver_flags.empty()) {
    text += "\nFlags of this engine:\n" + driver_flags;
  }
  return text +
         "\nOther calls:\n"
         "  --version   what this executable is made of\n"
         "  --describe  the same and more, as one JSON document\n"
         "  --help      this text\n\n"
         "Exit status: 0 ok or unsupported; 1 a benchmark failed, or a flag is "
         "unknown\nor has a value that is none; 2 other usage errors.  With "
         "--crash the process\nends by signal 9.\n";
}

}  // namespace kvmatrix
