// The flags of tokyo.cc, the only file that includes this, and what they set.
// TOKYO_DB is BTree (a B+ tree) or HashTable.
//
//   Tune(db, options);       // before the database is opened
//   Describe(db, options)    // throws if Tokyo Cabinet has other settings
//
// Defaults are the library's own, except for --large.  See
// drivers/ENGINES_ON_REQUEST.md.

#ifndef DRIVERS_OPTIONS_TOKYO_OPTIONS_H_
#define DRIVERS_OPTIONS_TOKYO_OPTIONS_H_

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/driver.h"
#include "drivers/on_request/tokyo_api.h"

DEFINE_uint32(leaf_members, 128, "records in each leaf of the B+ tree");
DEFINE_uint32(nonleaf_members, 256, "links in each other node of the B+ tree");
DEFINE_uint64(buckets, 0,
              "number of hash buckets; 0 means Tokyo Cabinet's default");
DEFINE_double(buckets_per_entry, 0,
              "hash buckets per entry of --num, in addition to --buckets");
DEFINE_int64(map_size, -1,
             "size of the extra part of the file that is memory-mapped, in "
             "bytes; -1 means Tokyo Cabinet's default");
DEFINE_bool(large, true, "addresses of 8 bytes, for files above 2 GB");
DEFINE_string(compression_type, "deflate",
              "codec of --compression: deflate, bzip2 or tcbs");

namespace kvmatrix {

// TOKYO_DB is defined by drivers/CMakeLists.txt, so that each executable has
// one engine.  kTree selects code for the B+ tree.
using Api = TOKYO_DB;
using Handle = Api::Handle;
inline constexpr bool kTree = std::is_same_v<Api, BTree>;
using Settings = std::map<std::string, std::string>;

// The options of both databases have the same values.
static_assert(int{BDBTLARGE} == int{HDBTLARGE} &&
              int{BDBTDEFLATE} == int{HDBTDEFLATE} &&
              int{BDBTBZIP} == int{HDBTBZIP} && int{BDBTTCBS} == int{HDBTTCBS});

// Throws std::runtime_error with Tokyo Cabinet's message unless `ok`.
inline void Check(bool ok, Handle* db) {
  if (!ok) throw std::runtime_error(tcbdberrmsg(Api::Error(db)));
}

// Returns the tuning options.  Throws Unsupported if the flag names no codec.
inline uint8_t OptionsOf(const Options& options) {
  const uint8_t large = FLAGS_large ? BDBTLARGE : 0;
  if (!options.compression) return large;
  if (FLAGS_compression_type == "deflate") return large | BDBTDEFLATE;
  if (FLAGS_compression_type == "bzip2") return large | BDBTBZIP;
  if (FLAGS_compression_type == "tcbs") return large | BDBTTCBS;
  throw Unsupported("--compression_type=" + FLAGS_compression_type +
                    ": expected deflate, bzip2 or tcbs");
}

// Returns how many leaves the cache holds, which is all that Tokyo Cabinet lets
// one choose: as many as have the size of the cache if they are full.  A leaf
// is divided above 16 KiB.
inline int32_t CachedLeaves(const Options& options) {
  const uint64_t entry = options.key_size + options.value_size;
  const uint64_t leaf = FLAGS_leaf_members * std::max<uint64_t>(entry, 1);
  const uint64_t leaves =
      options.cache_size / std::clamp<uint64_t>(leaf, 1, 16 << 10);
  return static_cast<int32_t>(std::clamp<uint64_t>(leaves, 1, INT32_MAX));
}

// Sets the options of a database.  A template although `db` is always a
// Handle*, because each database's functions are named in code that the other
// must not compile.  Throws as OptionsOf() and Check() do.
// REQUIRES: db is not open
template <typename Db>
void Tune(Db* db, const Options& options) {
  const double entries = static_cast<double>(options.expected_entries);
  const auto buckets = static_cast<int64_t>(FLAGS_buckets) +
                       static_cast<int64_t>(FLAGS_buckets_per_entry * entries);
  const uint8_t opts = OptionsOf(options);
  if (options.threads > 1) Check(Api::SetMutex(db), db);
  if (FLAGS_map_size >= 0) Check(Api::SetMap(db, FLAGS_map_size), db);
  if constexpr (kTree) {
    const auto leaf = static_cast<int32_t>(FLAGS_leaf_members);
    const auto nonleaf = static_cast<int32_t>(FLAGS_nonleaf_members);
    Check(tcbdbtune(db, leaf, nonleaf, buckets, -1, -1, opts), db);
    Check(tcbdbsetcache(db, CachedLeaves(options), 0), db);
  } else {
    Check(tchdbtune(db, buckets, -1, -1, opts), db);
  }
}

// Returns the settings in force, under Tokyo Cabinet's own names: opts is 1
// (large) + 2 (Deflate), 4 (BZIP2) or 8 (TCBS).  Throws std::runtime_error if
// one is not as requested.  It raises small numbers of cached leaves, and takes
// a prime number of buckets, so these are not compared.
// REQUIRES: db is open
template <typename Db>
Settings Describe(Db* db, const Options& options) {
  Settings settings = {{"bnum", std::to_string(Api::Buckets(db))},
                       {"align", std::to_string(Api::Alignment(db))},
                       {"mutex", Api::HasMutex(db) ? "true" : "false"},
                       {"opts", std::to_string(Api::Options(db))}};
  Settings expected = {{"opts", std::to_string(OptionsOf(options))}};
  if constexpr (kTree) {
    settings["lmemb"] = std::to_string(tcbdblmemb(db));
    settings["nmemb"] = std::to_string(tcbdbnmemb(db));
    settings["lcnum"] = std::to_string(db->lcnum);
    settings["ncnum"] = std::to_string(db->ncnum);
    settings["xmsiz"] = std::to_string(tchdbxmsiz(db->hdb));
    expected["lmemb"] = std::to_string(FLAGS_leaf_members);
    expected["nmemb"] = std::to_string(FLAGS_nonleaf_members);
  } else {
    settings["xmsiz"] = std::to_string(tchdbxmsiz(db));
  }
  for (const auto& [name, value] : expected)
    if (settings[name] != value)
      throw std::runtime_error(name + " is " + settings[name] + ", not " +
                               value + " as requested");
  settings["sync"] = options.durability == Durability::kDurable
                         ? "OTSYNC (as requested)"
                         : "false (as requested)";
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_TOKYO_OPTIONS_H_
