#include "common/spec/leveldb_words.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "common/spec/benchmark.h"

namespace kvmatrix {
namespace {

// What becomes of the results if a word is left out.
enum class Effect {
  kInstead,   // nothing, with what the text names in its place
  kLeaveOut,  // nothing
  kChanges,   // they are those of other settings or of other work
};

// Names separated by blanks; those that end with '*' are beginnings.  The first
// row with a name applies.
struct Row {
  std::string_view names;
  Effect effect;
  std::string_view text;
};

using enum Effect;

// 1. db_bench of LevelDB and of RocksDB, 2. of SQLite and of Kyoto Cabinet, and
// YCSB.
constexpr Row kFlags[] = {
    {"P p", kInstead,
     "kvmatrix run FILE, which reads property files of YCSB, each with -P FILE "
     "and -p NAME=VALUE as in YCSB"},
    {"flagfile fromenv tryfromenv undefok", kInstead,
     "the flags themselves, such as $(cat FILE) in a shell"},
    {"compression_type", kInstead,
     "--compression=true or =false; --version names the engine's codec"},
    {"compression_level compression_max_dict_bytes compression_zstd_* "
     "compression_parallel_threads compression_max_dict_buffer_bytes "
     "compression_use_zstd_dict_trainer compression_manager "
     "sample_for_compression enable_index_compression verify_compression "
     "min_level_to_compress",
     kChanges, "details of a codec; --compression switches it on or off"},
    {"use_fsync", kInstead, "--durability=durable, which syncs each write"},
    {"disable_data_sync", kLeaveOut, "durable writes are --durability's"},
    {"disable_wal manual_wal_flush", kInstead,
     "--durability=buffered, the default, which promises as little; "
     "db_bench_rocksdb has both flags"},
    {"WAL_enabled", kInstead, "--journal_mode=wal of db_bench_sqlite3"},
    {"use_rowids", kInstead, "--without_rowid=false of db_bench_sqlite3"},
    {"transaction no_transaction", kInstead,
     "--batch_size=1, the default: each write is a transaction"},
    {"num_pages", kInstead, "--cache_size, in bytes"},
    {"writes deletes", kInstead,
     "--num, the entries that a fill writes, or --duration"},
    {"finish_after_writes", kInstead, "--duration"},
    {"benchmark_write_rate_limit", kInstead,
     "--writes_per_second, in operations and not in bytes"},
    {"benchmark_read_rate_limit", kInstead, "--rate, in operations per second"},
    {"sine_write_rate*", kInstead, "--sine_mix_rate, with mixgraph"},
    {"sine_mix_rate_noise", kLeaveOut,
     "arrivals at --sine_mix_rate are at random times anyway"},
    {"mix_accesses", kInstead, "--reads"},
    {"max_scan_distance", kInstead, "--seek_nexts, the entries after a seek"},
    {"multiscan_* use_multiscan", kInstead, "seekrandom with --seek_nexts"},
    {"deletepercent mergereadpercent", kInstead,
     "mix with --mix_shares, such as read:80,update:10,delete:10"},
    {"key_prefix keys_per_prefix", kInstead, "--key_size, the whole length"},
    {"read_random_exp_range", kInstead, "--key_distribution=zipf"},
    {"use_uint64_comparator", kInstead, "--key_format=big"},
    {"value_size_distribution", kInstead, "--value_size_distribution_type"},
    {"max_open_files", kInstead,
     "--open_files of db_bench_leveldb and db_bench_rocksdb"},
    {"target_file_size max_file_size", kInstead,
     "--max_file_size of db_bench_leveldb, --target_file_size_base of "
     "db_bench_rocksdb"},

    {"stats_interval* stats_per_interval report_interval_seconds report_file "
     "thread_status_per_interval progress_reports",
     kLeaveOut,
     "reports while it runs; --json=FILE records the rate over time"},
    {"statistics statistics_string stats_level perf_level stats_dump_* "
     "stats_persist_* persist_stats_to_disk stats_history_* "
     "report_bg_io_stats print_malloc_stats dump_malloc_stats "
     "show_table_properties report_file_operations report_open_timing "
     "confidence_interval_only build_info comparisons slow_usecs "
     "use_stderr_info_logger simcache_size skip_stats_update_on_db_open",
     kLeaveOut, "prints more; --json=FILE has the engine's counters"},
    {"enable_numa", kLeaveOut,
     "binds threads to nodes; numactl does that for any program"},
    {"truth_db bgwriter_num block_cache_trace_* trace_file "
     "trace_replay_* ops_between_duration_checks fatal_shutdown_* "
     "tolerate_io_errors_for_remote_dbs expire_style time_range "
     "key_id_range num_deletion_threads",
     kLeaveOut, "serves benchmarks that do not exist here"},
    {"track_and_verify_* paranoid_memory_checks force_consistency_checks "
     "verify_manifest_* allow_data_in_errors max_manifest_* "
     "write_batch_protection_*",
     kLeaveOut, "checks inside RocksDB; every answer is verified anyway"},
    {"avoid_flush_during_recovery avoid_flush_during_shutdown "
     "file_opening_threads open_files_async",
     kLeaveOut, "concerns opening and closing, which are timed separately"},

    {"block_size bloom_bits write_buffer_size open_files reuse_logs "
     "block_restart_interval verify_checksums verify_checksum paranoid_checks",
     kChanges,
     "an option of LevelDB and RocksDB, which db_bench_leveldb or "
     "db_bench_rocksdb has; this engine has none of that name"},
    {"level0_* num_levels max_bytes_for_level_* target_file_size_* "
     "level_compaction_* compaction_* universal_* fifo_* subcompactions "
     "max_background_* num_*_pri_threads max_compaction_* "
     "soft_pending_* hard_pending_* delayed_write_rate rate_limiter_* "
     "rate_limit_* disable_auto_compactions disable_seek_compaction "
     "periodic_compaction_seconds ttl_seconds max_successive_merges "
     "strict_max_successive_merges optimize_filters_for_hits "
     "new_table_reader_* max_mem_* source_compaction_* max_grandparent_* "
     "hard_rate_limit soft_rate_limit read_triggered_* min_tombstones_* "
     "memtable_op_scan_*",
     kChanges, "when RocksDB compacts, and slows writes down"},
    {"memtable* max_write_buffer_* min_write_buffer_* "
     "db_write_buffer_size arena_block_size hash_bucket_count "
     "skip_list_lookahead inplace_update_* enable_pipelined_write "
     "unordered_write allow_concurrent_memtable_write enable_write_thread_* "
     "write_thread_* experimental_mempurge_threshold purge_redundant_* "
     "filter_deletes",
     kChanges, "how RocksDB keeps new writes in memory"},
    {"cache_* use_cache_* compressed_* use_compressed_* row_cache_size "
     "tiered_* use_tiered_cache secondary_* prepopulate_* charge_* "
     "use_shared_block_* cost_write_* pin_* uncache_* read_cache_* "
     "use_clock_cache "
     "table_cache_numshardbits",
     kChanges, "how RocksDB caches; --cache_size is the size of the cache"},
    {"index_* partition_* decouple_* metadata_block_size format_version "
     "block_* super_block_* separate_key_* use_data_block_* data_block_* "
     "uniform_cv_* whole_key_* use_ribbon_filter use_trie_index "
     "optimize_filters_* bloom_locality checksum_type read_amp_* "
     "use_plain_table use_cuckoo_table cuckoo_* use_hash_search "
     "use_keep_filter embedded_blob_* file_checksum",
     kChanges, "the format of RocksDB's tables and filters"},
    {"use_direct_* mmap_* advise_random_on_open readahead_size "
     "random_access_max_* access_hint_* bufferedio "
     "log_readahead_size adaptive_readahead async_io auto_readahead_size "
     "initial_auto_* max_auto_* num_file_reads_* io_* bytes_per_sync "
     "wal_bytes_per_sync "
     "writable_file_* enable_io_prio enable_cpu_prio optimize_multiget_for_io",
     kChanges, "how RocksDB reads and writes files"},
    {"wal_* max_total_wal_size async_wal_* delete_obsolete_*", kChanges,
     "how RocksDB keeps its log"},
    {"use_blob_* blob_* enable_blob_* min_blob_size num_wide_columns "
     "num_short_wide_columns",
     kChanges, "values outside of the tree, which no driver here has"},
    {"num_column_families num_hot_column_families column_family_* "
     "num_multi_db",
     kChanges, "several databases or column families; here it is one of each"},
    {"prefix_* total_order_seek seek_missing_prefix auto_prefix_mode "
     "use_tailing_iterator explicit_snapshot auto_refresh_* "
     "seek_nexts_to_delete user_timestamp_size read_with_latest_*",
     kChanges, "iterators over prefixes, snapshots and timestamps"},
    {"merge_* transaction_* optimistic_transaction_db use_single_deletes "
     "*range_tombstone* writes_before_delete_range",
     kChanges, "merges, transactions and range deletes"},
    {"overwrite_* numdistinct disposable_* persistent_* "
     "same_value_percentage use_existing_keys multiread_* "
     "coro_* stddev fault_injection_*",
     kChanges, "keys, values or calls that no benchmark here has"},
    {"readonly open_as_follower leader_path use_secondary_db", kChanges,
     "opens the database of another process, or only for reading"},
    {"env_uri fs_uri simulate_* options_file backup_* restore_* ingest_* "
     "openandcompact_* preclude_* preserve_* identity_* use_adaptive_mutex",
     kChanges, "RocksDB's environment and tools"},
};

constexpr Row kNames[] = {
    {"stats levelstats sstables memstats approximatememtablestats "
     "stats_history resetstats block_cache_entry_stats "
     "cache_report_problems heapprofile",
     kLeaveOut, "prints counters; --json=FILE has those of each benchmark"},
    {"flush", kLeaveOut,
     "a benchmark that writes ends with a flush, which is part of its time"},
    {"waitforcompaction", kLeaveOut,
     "the database settles after each benchmark that writes (--settle)"},
    {"open", kLeaveOut,
     "every benchmark opens the database; --json=FILE has the time, open_ns"},
    {"compactall compact0 compact1", kInstead, "compact"},
    {"newiterator newiteratorwhilewriting", kInstead,
     "seekrandom and seekrandomwhilewriting"},
    {"multiscan multiscanrandom", kInstead, "seekrandom with --seek_nexts"},
    {"readrandomfast randomwithverify readrandomcoroutine", kInstead,
     "readrandom; every answer is verified"},
    {"readtocache readtorowcache", kInstead, "readseq or --warmup"},
    {"fillseqdeterministic", kInstead, "fillseq"},
    {"filluniquerandomdeterministic", kInstead, "filluniquerandom"},
    {"updaterandom appendrandom xorupdaterandom mergerandom", kInstead,
     "mix with --mix_shares=readmodifywrite:100"},
    {"readrandommergerandom", kInstead,
     "mix with --mix_shares=read:50,readmodifywrite:50"},
    {"load", kInstead, "ycsbload"},
    {"compress", kInstead, "snappycomp"},
    {"uncompress", kInstead, "snappyuncomp"},
    {"verifychecksum verifyfilechecksums", kInstead, "verify"},
    {"multiread* readrandomoperands getmergeoperands", kChanges,
     "gets of many keys in one call; readrandom gets them one by one"},
    {"readwhilemerging seekrandomwhilemerging readwhilescanning", kChanges,
     "readwhilewriting is the nearest"},
    {"randomtransaction fillanddeleteuniquerandom randomreplacekeys "
     "timeseries fillseekseq backup restore ingestexternalfile "
     "openandcompact approximatesizerandom replay xxh* acquireload "
     "compressreject fillembedded* *entity",
     kChanges, ""},
};

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.starts_with('*') && pattern.ends_with('*')) {
    return name.find(pattern.substr(1, pattern.size() - 2)) != name.npos;
  }
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

std::string TextOf(const Row& row) {
  const std::string text(row.text);
  switch (row.effect) {
    case kInstead:
      return "use " + text;
    case kLeaveOut:
      return "leave it out: " + text;
    case kChanges:
      break;
  }
  return "changes the result, and has no equivalent here" +
         (text.empty() ? "" : ": " + text);
}

std::string Known(std::span<const Row> rows, std::string_view name) {
  for (const Row& row : rows) {
    for (const auto pattern : std::views::split(row.names, ' ')) {
      if (Matches({pattern.begin(), pattern.end()}, name)) return TextOf(row);
    }
  }
  return "";
}

// Returns the share of pairs of neighbouring letters that two words have in
// common, which does not depend on the order of their parts: 0.8 for
// randomread and readrandom.
double Likeness(std::string_view a, std::string_view b) {
  if (a.size() < 2 || b.size() < 2) return 0;
  std::vector<std::string_view> pairs;
  for (size_t i = 0; i + 1 < b.size(); ++i) pairs.push_back(b.substr(i, 2));
  size_t common = 0;
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    const auto at = std::ranges::find(pairs, a.substr(i, 2));
    if (at == pairs.end()) continue;
    pairs.erase(at);
    ++common;
  }
  return 2.0 * static_cast<double>(common) /
         static_cast<double>(a.size() + b.size() - 2);
}

// Returns the word most like `name`; empty if none is like it.
std::string_view Nearest(std::string_view name,
                         std::span<const std::string> words) {
  constexpr double kLeast = 0.6;
  constexpr size_t kMaxName = 100;  // what is longer is no name
  std::string_view nearest;
  double most = kLeast;
  std::string lower(name.substr(0, kMaxName));
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter += 'a' - 'A';
  }
  for (const std::string& word : words) {
    const double likeness = Likeness(lower, word);
    if (likeness <= most) continue;
    most = likeness;
    nearest = word;
  }
  return nearest;
}

std::string Advice(std::span<const Row> rows, std::string_view name,
                   std::span<const std::string> words,
                   const std::string& dashes) {
  const std::string known = Known(rows, name);
  if (!known.empty()) return known;
  const std::string_view nearest = Nearest(name, words);
  if (nearest.empty()) return "";
  return "did you mean " + dashes + std::string(nearest) + "?";
}

}  // namespace

std::string AdviceOnFlag(std::string_view name,
                         std::span<const std::string> known) {
  return Advice(kFlags, name, known, "--");
}

std::string AdviceOnBenchmark(std::string_view name) {
  std::vector<std::string> names;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    names.emplace_back(benchmark.name);
  }
  return Advice(kNames, name, names, "");
}

}  // namespace kvmatrix
