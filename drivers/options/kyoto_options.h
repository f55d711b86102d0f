// The flags of kyoto.cc, the only file that includes this, and what they set.
// KYOTO_DB is TreeDB (a B+ tree) or HashDB (a hash table).
//
//   std::map<std::string, int64_t> expected = Tune(db, options);
//   db.open(...)
//   db.status() must report each of `expected`
//
// Defaults are the library's own, except for --autotran.  The scenarios set
// what LevelDB's program and the CEDA page use; see drivers/ENGINES.md.

#ifndef DRIVERS_OPTIONS_KYOTO_OPTIONS_H_
#define DRIVERS_OPTIONS_KYOTO_OPTIONS_H_

#include <gflags/gflags.h>
#include <kchashdb.h>
#include <kcplantdb.h>

#include <algorithm>
#include <map>
#include <string>

#include "common/driver.h"

DEFINE_uint64(page_size, 8192,
              "size of a page of TreeDB, in bytes; HashDB has no pages");
DEFINE_uint64(map_size, 64 << 20,
              "size of the part of the file that is memory-mapped, in bytes");
DEFINE_bool(small, false, "use addresses of 4 bytes, for files up to 16 GiB");
DEFINE_bool(linear, false,
            "chain the records of a bucket in a list instead of a tree");
DEFINE_uint64(buckets, 0, "number of hash buckets; 0 means Kyoto's default");
DEFINE_double(buckets_per_entry, 0,
              "hash buckets per entry of --num, in addition to --buckets");

// How --durability=durable is kept.
DEFINE_bool(autotran, true,
            "with --durability=durable: each write is a transaction "
            "(OAUTOTRAN), in addition to --sync_by_synchronize or OAUTOSYNC");
DEFINE_bool(sync_by_synchronize, false,
            "with --durability=durable: synchronise by one synchronize(true) "
            "after each write instead of OAUTOSYNC");
DEFINE_bool(buffered_autotran, false,
            "with --durability=buffered: each write is a transaction "
            "(OAUTOTRAN) that is not synchronised");

namespace kvmatrix {

namespace kc = kyotocabinet;
// KYOTO_DB is defined by drivers/CMakeLists.txt, so that each executable has
// one engine.  kTree selects code for TreeDB.
using Db = kc::KYOTO_DB;
inline constexpr bool kTree = std::is_same_v<Db, kc::TreeDB>;

// Returns what the durability adds to the mode of open().
inline uint32_t ModeOf(Durability durability) {
  uint32_t mode = FLAGS_buffered_autotran ? Db::OAUTOTRAN : 0;
  if (durability != Durability::kDurable) return mode;
  mode = 0;
  if (FLAGS_autotran) mode |= Db::OAUTOTRAN;
  if (!FLAGS_sync_by_synchronize) mode |= Db::OAUTOSYNC;
  return mode;
}

// Returns how a write reaches the disk, in words.
inline std::string SyncOf(Durability durability) {
  if (durability != Durability::kDurable)
    return FLAGS_buffered_autotran ? "false, OAUTOTRAN" : "false";
  const std::string how =
      FLAGS_sync_by_synchronize ? "synchronize(true)" : "OAUTOSYNC";
  return FLAGS_autotran ? "OAUTOTRAN, " + how : how;
}

// Sets the options of a TreeDB or HashDB that is not open yet.  Returns the
// values that its status must report afterwards, under Kyoto's own names: opts
// is 1 (small) + 2 (linear) + 4 (compressed), msiz and psiz are bytes, pccap is
// the page cache in bytes, and bnum the buckets, left out if Kyoto chooses
// them.
//
// A template although `db` is always a Db, because TreeDB's functions are named
// in code that HashDB must not compile.
// REQUIRES: db is not open
template <typename KyotoDb>
std::map<std::string, int64_t> Tune(KyotoDb& db, const Options& options) {
  std::map<std::string, int64_t> expected;
  const int small = FLAGS_small ? Db::TSMALL : 0;
  const int compress = options.compression ? Db::TCOMPRESS : 0;
  const int linear = FLAGS_linear ? Db::TLINEAR : 0;
  db.tune_options(expected["opts"] = small | linear | compress);
  db.tune_map(expected["msiz"] = FLAGS_map_size);
  const double entries = static_cast<double>(options.expected_entries);
  const auto scaled = static_cast<int64_t>(FLAGS_buckets_per_entry * entries);
  const auto buckets = static_cast<int64_t>(FLAGS_buckets) + scaled;
  // 0 buckets leave Kyoto's default.  Above 32,767 HashDB takes a prime number
  // near the requested one (kchashdb.h, tune_buckets()).
  if (buckets > 0) expected["bnum"] = buckets;
  if (!kTree && buckets > INT16_MAX)  // TreeDB reports the requested number
    expected["bnum"] = kc::nearbyprime(buckets);
  db.tune_buckets(buckets);
  if constexpr (kTree) {  // a cache of 0 would mean Kyoto's 64 MiB
    const auto cache = static_cast<int64_t>(options.cache_size);
    db.tune_page_cache(expected["pccap"] = std::max<int64_t>(cache, 1));
    db.tune_page(expected["psiz"] = FLAGS_page_size);
  }
  return expected;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_KYOTO_OPTIONS_H_
