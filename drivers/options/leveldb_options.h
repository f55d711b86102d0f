// The flags of leveldb.cc, the only file that includes this, and the options
// that they set.
//
//   TunedOptions tuned(options);
//   DB::Open(tuned.db, ...)   // which `tuned` outlives
//   tuned.settings            // what was requested
//
// LevelDB clips options silently and reports none of them, so values that it
// would clip are refused.  See drivers/ENGINES.md.

#ifndef DRIVERS_OPTIONS_LEVELDB_OPTIONS_H_
#define DRIVERS_OPTIONS_LEVELDB_OPTIONS_H_

#include <gflags/gflags.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/driver.h"
#include "leveldb/cache.h"
#include "leveldb/filter_policy.h"
#include "leveldb/options.h"

DEFINE_uint64(write_buffer_size, 0,
              "size of the memtable, in bytes; 0 means LevelDB's 4 MiB");
DEFINE_uint64(max_file_size, 0,
              "size of a table file, in bytes; 0 means LevelDB's 2 MiB");
DEFINE_uint64(block_size, 0,
              "size of a table block, in bytes; 0 means LevelDB's 4 KiB");
DEFINE_uint64(block_restart_interval, 0,
              "keys between two that are stored whole; 0 means LevelDB's 16");
DEFINE_uint64(open_files, 0, "files kept open; 0 means LevelDB's 1000");
DEFINE_int32(bloom_bits, -1,
             "Bloom filter bits per key; negative means no filter");
DEFINE_bool(verify_checksums, false,
            "verify the checksum of each block that is read");
DEFINE_bool(reuse_logs, false,
            "append to the log that the last opening left instead of turning "
            "it into a table");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

inline std::string AsText(bool on) { return on ? "true" : "false"; }

// The options of a LevelDB that is not open yet, and what they refer to.
// Throws std::range_error if LevelDB would clip a value.
struct TunedOptions {
  explicit TunedOptions(const Options& options)
      : cache(leveldb::NewLRUCache(options.cache_size)) {
    Record("cache_size", std::to_string(options.cache_size));
    Record("compression", options.compression ? "snappy" : "none");
    Record("bloom_bits", std::to_string(FLAGS_bloom_bits));
    Record("reuse_logs", AsText(FLAGS_reuse_logs));
    Record("verify_checksums", AsText(FLAGS_verify_checksums));
    db.create_if_missing = true;
    db.block_cache = cache.get();
    db.reuse_logs = FLAGS_reuse_logs;
    if (!options.compression) db.compression = leveldb::kNoCompression;
    // The ranges to which SanitizeOptions() in db/db_impl.cc clips.
    Set(db.write_buffer_size, "write_buffer_size", FLAGS_write_buffer_size,
        64 << 10, 1 << 30);
    Set(db.max_file_size, "max_file_size", FLAGS_max_file_size, 1 << 20,
        1 << 30);
    Set(db.block_size, "block_size", FLAGS_block_size, 1 << 10, 4 << 20);
    Set(db.max_open_files, "open_files", FLAGS_open_files, 74, 50000);
    // Not clipped: an interval that fits LevelDB's type.
    Set(db.block_restart_interval, "block_restart_interval",
        FLAGS_block_restart_interval, 1, 1 << 30);
    if (FLAGS_bloom_bits >= 0)
      filter.reset(leveldb::NewBloomFilterPolicy(FLAGS_bloom_bits));
    db.filter_policy = filter.get();
  }

  void Record(const char* name, const std::string& value) {
    settings[name] = value + " (as requested)";
  }

  leveldb::Options db;
  Settings settings;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<const leveldb::FilterPolicy> filter;

 private:
  template <typename T>
  void Set(T& option, const char* name, uint64_t value, uint64_t low,
           uint64_t high) {
    if (value != 0 && (value < low || value > high)) {
      throw std::range_error("--" + std::string(name) + ": LevelDB accepts " +
                             std::to_string(low) + " to " +
                             std::to_string(high) + ", not " +
                             std::to_string(value));
    }
    if (value != 0) option = static_cast<T>(value);
    Record(name, std::to_string(option));
  }
};

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_LEVELDB_OPTIONS_H_
