// The flags of kyoto.cc, the only file that includes this, and what they set.
// KYOTO_DB is TreeDB (a B+ tree) or HashDB (a hash table).
//
//   std::map<std::string, int64_t> expected = Tune(db, options);
//   db.open(...)
//   db.status() must report each of `expected`
//
// Except for --page_size and --buckets, the flags exist for the settings of the
// CEDA page, which differ from those of LevelDB's; see drivers/ENGINES.md.

#ifndef DRIVERS_KYOTO_OPTIONS_H_
#define DRIVERS_KYOTO_OPTIONS_H_

#include <gflags/gflags.h>
#include <kchashdb.h>
#include <kcplantdb.h>

#include <algorithm>
#include <map>
#include <string>

#include "common/driver.h"

DEFINE_uint64(page_size, 1024,
              "size of a page of TreeDB, in bytes; HashDB has no pages");
DEFINE_uint64(map_size, 256 << 20,
              "size of the part of the file that is memory-mapped, in bytes");
DEFINE_bool(small, true, "use addresses of 4 bytes, for files up to 16 GiB");
DEFINE_uint64(buckets, 0, "number of hash buckets; 0 means Kyoto's default");
DEFINE_double(buckets_per_entry, 0,
              "hash buckets per entry of --num, in addition to --buckets");

namespace kvmatrix {

namespace kc = kyotocabinet;
// KYOTO_DB is defined by drivers/CMakeLists.txt, so that each executable has
// one engine.  kTree selects code for TreeDB.
using Db = kc::KYOTO_DB;
inline constexpr bool kTree = std::is_same_v<Db, kc::TreeDB>;

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
  db.tune_options(expected["opts"] = small | Db::TLINEAR | compress);
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

#endif  // DRIVERS_KYOTO_OPTIONS_H_
