// The flags of tkrzw.cc, the only file that includes this, and the tuning
// parameters that they make.  TKRZW_DBM is TreeDBM (a B+ tree) or HashDBM (a
// hash table).
//
//   dbm.OpenAdvanced(path, true, tkrzw::File::OPEN_DEFAULT, Tuning(options))
//   Describe(dbm, options)   // throws if Tkrzw has other settings
//
// Defaults are the library's own.  See drivers/ENGINES_ON_REQUEST.md.

#ifndef DRIVERS_OPTIONS_TKRZW_OPTIONS_H_
#define DRIVERS_OPTIONS_TKRZW_OPTIONS_H_

#include <gflags/gflags.h>
#include <tkrzw_dbm_hash.h>
#include <tkrzw_dbm_tree.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/driver.h"

DEFINE_uint32(page_size, tkrzw::TreeDBM::DEFAULT_MAX_PAGE_SIZE,
              "size of a page of the tree, in bytes; the hash table has none");
DEFINE_uint64(buckets, 0, "number of hash buckets; 0 means Tkrzw's default");
DEFINE_double(buckets_per_entry, 0,
              "hash buckets per entry of --num, in addition to --buckets");
DEFINE_int32(align_pow, -1,
             "power of two to which records are aligned; -1 means Tkrzw's "
             "default");
DEFINE_string(compression_type, "lz4", "codec of --compression: lz4 or zstd");

namespace kvmatrix {

// TKRZW_DBM is defined by drivers/CMakeLists.txt, so that each executable has
// one engine.  kTree selects code for TreeDBM.
using Dbm = tkrzw::TKRZW_DBM;
inline constexpr bool kTree = std::is_same_v<Dbm, tkrzw::TreeDBM>;
using Settings = std::map<std::string, std::string>;

// Returns whether the settings are those that Tkrzw's documentation requires
// for transactions that survive crashes ("Settings for Higher Durability"):
// updates are appended, and an opening after a crash returns to the state of
// the last synchronisation.
inline bool IsAppending(const Options& options) {
  return options.durability != Durability::kBuffered;
}

// Returns whether an open database appends its updates.
inline bool IsAppending(Dbm& dbm) {
  for (const auto& [name, value] : dbm.Inspect())
    if (name == "update_mode") return value == "appending";
  return false;
}

// Returns the number of pages that the cache may hold.
inline int32_t CachedPages(const Options& options) {
  const uint64_t pages =
      options.cache_size / std::max<uint64_t>(FLAGS_page_size, 1);
  return static_cast<int32_t>(std::clamp<uint64_t>(pages, 1, INT32_MAX));
}

// Returns the codec.  Throws Unsupported if the flag names none.
inline tkrzw::HashDBM::RecordCompressionMode CodecOf(const Options& options) {
  using Hash = tkrzw::HashDBM;
  if (!options.compression) return Hash::RECORD_COMP_NONE;
  if (FLAGS_compression_type == "lz4") return Hash::RECORD_COMP_LZ4;
  if (FLAGS_compression_type == "zstd") return Hash::RECORD_COMP_ZSTD;
  throw Unsupported("--compression_type=" + FLAGS_compression_type +
                    ": expected lz4 or zstd");
}

// Returns what OpenAdvanced() and RebuildAdvanced() are called with.  A
// template because TreeDBM's parameters are named in code that HashDBM must not
// compile.
template <typename Parameters = Dbm::TuningParameters>
Parameters Tuning(const Options& options) {
  using Hash = tkrzw::HashDBM;
  Parameters tuning;
  tuning.update_mode =
      IsAppending(options) ? Hash::UPDATE_APPENDING : Hash::UPDATE_IN_PLACE;
  if (IsAppending(options))
    tuning.restore_mode = Hash::RESTORE_SYNC | Hash::RESTORE_NO_SHORTCUTS |
                          Hash::RESTORE_WITH_HARDSYNC;
  tuning.record_comp_mode = CodecOf(options);
  tuning.align_pow = FLAGS_align_pow;
  const double entries = static_cast<double>(options.expected_entries);
  const auto buckets = static_cast<int64_t>(FLAGS_buckets) +
                       static_cast<int64_t>(FLAGS_buckets_per_entry * entries);
  if (buckets > 0) tuning.num_buckets = buckets;
  if constexpr (kTree) {
    tuning.max_page_size = static_cast<int32_t>(FLAGS_page_size);
    tuning.max_cached_pages = CachedPages(options);
  }
  return tuning;
}

// Returns the settings in force, under Tkrzw's own names.  Throws
// std::runtime_error if one is not as requested.  Tkrzw chooses a prime number
// of buckets near the requested one, so that is not compared.
// REQUIRES: dbm is open
inline Settings Describe(Dbm& dbm, const Options& options) {
  const auto inspected = dbm.Inspect();
  const std::map<std::string, std::string> all(inspected.begin(),
                                               inspected.end());
  Settings expected = {
      {"update_mode", IsAppending(options) ? "appending" : "in-place"},
      {"record_comp_mode",
       options.compression ? FLAGS_compression_type : "none"}};
  if (FLAGS_align_pow >= 0)
    expected["align_pow"] = std::to_string(FLAGS_align_pow);
  if (kTree) {
    expected["max_page_size"] = std::to_string(FLAGS_page_size);
    expected["max_cached_pages"] = std::to_string(CachedPages(options));
  }
  for (const auto& [name, value] : expected)
    if (all.at(name) != value)
      throw std::runtime_error(name + " is " + all.at(name) + ", not " + value +
                               " as requested");
  Settings settings;
  for (const char* name :
       {"align_pow", "auto_restored", "hash_num_buckets", "max_branches",
        "max_cached_pages", "max_page_size", "num_buckets", "offset_width",
        "record_comp_mode", "record_crc_mode", "update_mode"})
    if (all.contains(name)) settings[name] = all.at(name);
  constexpr const char* kSync[] = {"never", "with each flush",
                                   "with each write"};
  settings["sync"] = std::string(kSync[static_cast<int>(options.durability)]) +
                     " (as requested)";
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_TKRZW_OPTIONS_H_
