// The flags of rocksdb.cc, the only file that includes this, and the options
// that they set.  Names are those of RocksDB's own db_bench, defaults those of
// RocksDB 7.8.
//
//   rocksdb::Options requested;
//   requested.compression = ...;
//   if (!FLAGS_engine_defaults) Tune(requested, options.cache_size);
//   ... DB::Open(requested, ...) ...
//   Describe(db->GetOptions()) must equal Describe(requested)
//
// RocksDB clips options silently, so the comparison is what makes a setting
// certain.  configs/engines.toml sets the flags that give RocksDB LevelDB's
// defaults; see drivers/ENGINES.md.

#ifndef DRIVERS_ROCKSDB_OPTIONS_H_
#define DRIVERS_ROCKSDB_OPTIONS_H_

#include <gflags/gflags.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>

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
DEFINE_uint64(block_size, 4 << 10, "bytes of a table block");
DEFINE_int32(bloom_bits, -1, "Bloom filter bits per key; negative: no filter");

// An option of reads, set in the session: Tune() does not use it.
DEFINE_bool(verify_checksum, true, "verify the checksum of each block read");
DEFINE_bool(engine_defaults, false,
            "use the engine's defaults: only --compression and --sync have an "
            "effect, no other flag and not the size of the cache");

namespace kvmatrix {

// Names and values as EffectiveSettings() reports them.
using Settings = std::map<std::string, std::string>;

// Throws std::runtime_error with the engine's own message unless the status is
// OK.
inline void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// Sets what the flags request, and a new block cache of `cache_size` bytes,
// which the options own.  Index and filter blocks are outside of that cache, as
// in RocksDB by default.  Without --bloom_bits there is no filter, as in
// LevelDB; levels below --min_level_to_compress stay uncompressed.
// REQUIRES: db.compression is set, which the compressed levels use
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
  if (FLAGS_min_level_to_compress > 0) {
    const int plain = std::min(FLAGS_num_levels, FLAGS_min_level_to_compress);
    db.compression_per_level.assign(FLAGS_num_levels, db.compression);
    std::fill_n(db.compression_per_level.begin(), plain,
                rocksdb::kNoCompression);
  }
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache_size);
  table.block_size = FLAGS_block_size;
  if (FLAGS_bloom_bits >= 0)
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(FLAGS_bloom_bits));
  db.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
}

// Returns the options that matter here, with RocksDB's own names and formats.
// One that this version of RocksDB does not know is left out.  The cache is
// described by its capacity in bytes, the filter by its identifier or "none".
// Throws as Check() does.
// REQUIRES: the tables are block-based and have a cache, as by default
inline Settings Describe(const rocksdb::Options& options) {
  std::string db, family;
  Check(GetStringFromDBOptions(&db, options));
  Check(GetStringFromColumnFamilyOptions(&family, options));
  std::unordered_map<std::string, std::string> all;
  Check(rocksdb::StringToMap(db + family, &all));
  Settings settings;
  for (const char* name :
       {"compression", "compression_per_level", "disable_auto_compactions",
        "level0_file_num_compaction_trigger", "max_background_jobs",
        "max_bytes_for_level_base", "max_open_files", "max_write_buffer_number",
        "num_levels", "paranoid_checks", "target_file_size_base",
        "wal_recovery_mode", "write_buffer_size"})
    if (all.contains(name)) settings[name] = all[name];
  const auto& table =
      *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const auto& filter = table.filter_policy;
  settings["block_cache"] = std::to_string(table.block_cache->GetCapacity());
  settings["block_size"] = std::to_string(table.block_size);
  settings["filter_policy"] = filter ? filter->GetId() : "none";
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_ROCKSDB_OPTIONS_H_
