// The flags of rocksdb.cc, the only file that includes this, and the options
// that they set.  Names are those of RocksDB's own db_bench, defaults those of
// the library: RocksDB 11.8, or 7.8 of the distribution.  Only the codec is
// Snappy, as in db_bench and in LevelDB, where 11.8 has LZ4.
//
//   rocksdb::Options requested;
//   SetCompression(requested, options.compression);
//   if (!FLAGS_engine_defaults) Tune(requested, options.cache_size);
//   ... DB::Open(requested, ...) ...
//   Describe(db->GetOptions()) must equal Describe(requested)
//
// RocksDB clips options silently, so the comparison is what makes a setting
// certain.  configs/engines/rocksdb.toml sets the flags that give RocksDB
// LevelDB's defaults; see drivers/ENGINES_ON_REQUEST.md.

#ifndef DRIVERS_OPTIONS_ROCKSDB_OPTIONS_H_
#define DRIVERS_OPTIONS_ROCKSDB_OPTIONS_H_

#include <gflags/gflags.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // what 7.8 has in cache.h
#endif

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "common/driver.h"

// Memory for writes.  A memtable that is being written out still counts: with
// 2, one is active while another is flushed.
DEFINE_uint64(write_buffer_size, 64 << 20, "bytes of a memtable");
DEFINE_int32(max_write_buffer_number, 2, "memtables, including the active one");

// The shape of the tree.  Each further level holds ten times as many bytes,
// RocksDB's default, in files of the same size.
DEFINE_uint64(target_file_size_base, 64 << 20, "bytes of a file of level 1");
DEFINE_uint64(max_bytes_for_level_base, 256 << 20, "bytes of level 1");
DEFINE_int32(max_background_jobs, 2, "flushes and compactions at once");
DEFINE_int32(num_levels, 7, "levels");
DEFINE_int32(min_level_to_compress, 0, "the first level that is compressed");
DEFINE_bool(disable_auto_compactions, false,
            "leave all files in level 0 until the database is compacted");
DEFINE_int32(open_files, -1, "table files kept open; -1 means all");
DEFINE_bool(paranoid_checks, true,
            "stop writing when damaged data is detected");
DEFINE_bool(
    level_compaction_dynamic_level_bytes,
    rocksdb::AdvancedColumnFamilyOptions().level_compaction_dynamic_level_bytes,
    "derive the sizes of the levels from that of the last one");
DEFINE_int32(
    compaction_pri, 3,
    "which file is compacted first, as in rocksdb::CompactionPri: 0 by "
    "compensated size, 1 oldest largest, 2 oldest smallest sequence "
    "number, 3 minimum overlapping ratio, 4 round robin");

// The tables and their cache.
DEFINE_string(cache_type, "lru_cache",
              "kind of block cache: lru_cache or hyper_clock_cache");
DEFINE_uint64(block_size, 4 << 10, "bytes of a table block");
DEFINE_int32(bloom_bits, -1, "Bloom filter bits per key; negative: no filter");
DEFINE_uint32(format_version, rocksdb::BlockBasedTableOptions().format_version,
              "format of the tables");
DEFINE_bool(cache_index_and_filter_blocks, false,
            "keep indexes and filters in the block cache, not beside it");
DEFINE_bool(pin_l0_filter_and_index_blocks_in_cache, false,
            "never evict those of level 0");
DEFINE_string(compression_type, "snappy",
              "codec of --compression: none, snappy, lz4 or zstd");
DEFINE_string(bottommost_compression_type, "disable",
              "codec of the last level, likewise; disable means that of the "
              "others");

// How files are read and written.
DEFINE_bool(mmap_read, false, "map tables into memory instead of reading them");
DEFINE_bool(use_direct_reads, false, "read tables without the page cache");
DEFINE_bool(use_direct_io_for_flush_and_compaction, false,
            "write and merge tables without the page cache");
DEFINE_uint64(bytes_per_sync, 0,
              "bytes of a table after which the system is told to write them "
              "to the disk; 0 means never");
DEFINE_uint64(wal_bytes_per_sync, 0, "the same for the log");
DEFINE_uint64(rate_limiter_bytes_per_sec, 0,
              "most bytes per second that flushes and compactions write; 0 "
              "means unlimited");

DEFINE_bool(manual_wal_flush, false,
            "keep the log in memory until it is flushed or synchronised, "
            "instead of handing each write to the system");

// Options of writes and reads, set in the session: Tune() does not use them.
DEFINE_bool(disable_wal, false,
            "write no log: what is not in a table yet is lost when the process "
            "ends without closing");
DEFINE_bool(verify_checksum, true, "verify the checksum of each block read");
DEFINE_bool(engine_defaults, false,
            "use the engine's defaults: only --compression and --sync have an "
            "effect, no other flag and not the size of the cache");

namespace kvmatrix {

// Returns whether writes that need not be durable are not logged.
inline bool DisablesWal() {
  return FLAGS_disable_wal && !FLAGS_engine_defaults;
}

// Names and values as EffectiveSettings() reports them.
using Settings = std::map<std::string, std::string>;

// Throws std::runtime_error with the engine's own message unless the status is
// OK.
inline void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// Returns the codec of a name, or `disabled` for "disable".  Throws
// Unsupported, with the name of the flag, if there is no such codec or the
// library was built without it.
inline rocksdb::CompressionType CodecOf(const char* flag,
                                        const std::string& name,
                                        rocksdb::CompressionType disabled) {
  static const std::map<std::string, rocksdb::CompressionType> kCodecs = {
      {"none", rocksdb::kNoCompression},
      {"snappy", rocksdb::kSnappyCompression},
      {"lz4", rocksdb::kLZ4Compression},
      {"zstd", rocksdb::kZSTD},
      {"disable", disabled}};
  const std::string problem = "--" + std::string(flag) + "=" + name + ": ";
  const auto found = kCodecs.find(name);
  if (found == kCodecs.end())
    throw Unsupported(problem + "expected none, snappy, lz4 or zstd");
  const auto built = rocksdb::GetSupportedCompressions();
  const bool is_codec = found->second != rocksdb::kNoCompression &&
                        found->second != rocksdb::kDisableCompressionOption;
  if (is_codec && std::ranges::find(built, found->second) == built.end())
    throw Unsupported(problem + "this RocksDB was built without that codec");
  return found->second;
}

// Sets the codecs: those of the flags, with --engine_defaults the library's,
// or, without `enabled`, none at all.  Throws as CodecOf() does.
inline void SetCompression(rocksdb::Options& db, bool enabled) {
  if (!enabled) db.compression = rocksdb::kNoCompression;
  if (!enabled || FLAGS_engine_defaults) return;
  db.compression = CodecOf("compression_type", FLAGS_compression_type,
                           rocksdb::kSnappyCompression);
  db.bottommost_compression =
      CodecOf("bottommost_compression_type", FLAGS_bottommost_compression_type,
              rocksdb::kDisableCompressionOption);
}

// Returns a new block cache of `cache_size` bytes.  Throws Unsupported if the
// flag names no kind, or one that this RocksDB cannot size by itself.
inline std::shared_ptr<rocksdb::Cache> NewBlockCache(uint64_t cache_size) {
  const std::string problem = "--cache_type=" + FLAGS_cache_type + ": ";
  if (FLAGS_cache_type == "lru_cache") return rocksdb::NewLRUCache(cache_size);
  if (FLAGS_cache_type != "hyper_clock_cache")
    throw Unsupported(problem + "expected lru_cache or hyper_clock_cache");
#if ROCKSDB_MAJOR < 9
  throw Unsupported(problem + "this RocksDB has to be told the entries' size");
#else
  return rocksdb::HyperClockCacheOptions(cache_size).MakeSharedCache();
#endif
}

// Sets what the flags request about the format of tables and their cache.
// Without --bloom_bits there is no filter, as in LevelDB.
inline void TuneTables(rocksdb::Options& db, uint64_t cache_size) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = NewBlockCache(cache_size);
  table.block_size = FLAGS_block_size;
  table.format_version = FLAGS_format_version;
  table.cache_index_and_filter_blocks = FLAGS_cache_index_and_filter_blocks;
  table.pin_l0_filter_and_index_blocks_in_cache =
      FLAGS_pin_l0_filter_and_index_blocks_in_cache;
  if (FLAGS_bloom_bits >= 0)
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(FLAGS_bloom_bits));
  db.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
}

// Sets what the flags request about reading and writing files.
inline void TuneFiles(rocksdb::Options& db) {
  db.allow_mmap_reads = FLAGS_mmap_read;
  db.use_direct_reads = FLAGS_use_direct_reads;
  db.use_direct_io_for_flush_and_compaction =
      FLAGS_use_direct_io_for_flush_and_compaction;
  db.bytes_per_sync = FLAGS_bytes_per_sync;
  db.wal_bytes_per_sync = FLAGS_wal_bytes_per_sync;
  db.manual_wal_flush = FLAGS_manual_wal_flush;
  if (FLAGS_rate_limiter_bytes_per_sec > 0) {
    // RocksDB sets this itself then, unless it is set.
    if (db.bytes_per_sync == 0) db.bytes_per_sync = 1 << 20;
    db.rate_limiter.reset(rocksdb::NewGenericRateLimiter(
        static_cast<int64_t>(FLAGS_rate_limiter_bytes_per_sec)));
  }
}

// Sets what the flags request.  Levels below --min_level_to_compress stay
// uncompressed.  Throws Unsupported if a flag has a value that RocksDB has no
// meaning for.
// REQUIRES: SetCompression() has been called
inline void Tune(rocksdb::Options& db, uint64_t cache_size) {
  db.write_buffer_size = FLAGS_write_buffer_size;
  db.max_write_buffer_number = FLAGS_max_write_buffer_number;
  db.target_file_size_base = FLAGS_target_file_size_base;
  db.max_bytes_for_level_base = FLAGS_max_bytes_for_level_base;
  db.max_background_jobs = FLAGS_max_background_jobs;
  db.num_levels = FLAGS_num_levels;
  db.disable_auto_compactions = FLAGS_disable_auto_compactions;
  db.max_open_files = FLAGS_open_files;
  db.paranoid_checks = FLAGS_paranoid_checks;
  db.level_compaction_dynamic_level_bytes =
      FLAGS_level_compaction_dynamic_level_bytes;
  if (FLAGS_compaction_pri < 0 || FLAGS_compaction_pri > 4)
    throw Unsupported("--compaction_pri: RocksDB has 0 to 4, not " +
                      std::to_string(FLAGS_compaction_pri));
  db.compaction_pri = static_cast<rocksdb::CompactionPri>(FLAGS_compaction_pri);
  if (FLAGS_min_level_to_compress > 0) {
    const int plain = std::min(FLAGS_num_levels, FLAGS_min_level_to_compress);
    db.compression_per_level.assign(FLAGS_num_levels, db.compression);
    std::fill_n(db.compression_per_level.begin(), plain,
                rocksdb::kNoCompression);
  }
  TuneFiles(db);
  TuneTables(db, cache_size);
}

// Returns the options that matter here, with RocksDB's own names and formats.
// One that this version of RocksDB does not know is left out.  The cache is
// described by its capacity in bytes and its class, the filter by its
// identifier or "none", the rate limiter by its bytes per second or "none".
// Throws as Check() does.
// REQUIRES: the tables are block-based and have a cache, as by default
inline Settings Describe(const rocksdb::Options& options) {
  std::string db, family;
  Check(GetStringFromDBOptions(&db, options));
  Check(GetStringFromColumnFamilyOptions(&family, options));
  std::unordered_map<std::string, std::string> all;
  Check(rocksdb::StringToMap(db + family, &all));
  Settings settings;
  for (const char* name : {"allow_mmap_reads",
                           "bottommost_compression",
                           "bytes_per_sync",
                           "compaction_pri",
                           "compaction_readahead_size",
                           "compression",
                           "compression_per_level",
                           "disable_auto_compactions",
                           "level0_file_num_compaction_trigger",
                           "level_compaction_dynamic_level_bytes",
                           "manual_wal_flush",
                           "max_background_jobs",
                           "max_bytes_for_level_base",
                           "max_open_files",
                           "max_write_buffer_number",
                           "num_levels",
                           "paranoid_checks",
                           "target_file_size_base",
                           "use_direct_io_for_flush_and_compaction",
                           "use_direct_reads",
                           "wal_bytes_per_sync",
                           "wal_recovery_mode",
                           "write_buffer_size"})
    if (all.contains(name)) settings[name] = all[name];
  const auto& limiter = options.rate_limiter;
  settings["rate_limiter"] =
      limiter ? std::to_string(limiter->GetBytesPerSecond()) : "none";
  const auto& table =
      *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const auto& filter = table.filter_policy;
  const auto text = [](bool on) { return on ? "true" : "false"; };
  settings["block_cache"] = std::to_string(table.block_cache->GetCapacity());
  settings["cache_type"] = table.block_cache->Name();
  settings["block_size"] = std::to_string(table.block_size);
  settings["cache_index_and_filter_blocks"] =
      text(table.cache_index_and_filter_blocks);
  settings["filter_policy"] = filter ? filter->GetId() : "none";
  settings["format_version"] = std::to_string(table.format_version);
  settings["pin_l0_filter_and_index_blocks_in_cache"] =
      text(table.pin_l0_filter_and_index_blocks_in_cache);
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_ROCKSDB_OPTIONS_H_
