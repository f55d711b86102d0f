// The flags of kyoto.cc, the only file that includes this, and what they set.
// KYOTO_DB is TreeDB (a B+ tree) or HashDB (a hash table).

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
using Db = kc::KYOTO_DB;
inline constexpr bool kTree = std::is_same_v<Db, kc::TreeDB>;

// Sets the options of a TreeDB or HashDB that is not open yet.  Returns the
// values that its status must report afterwards, under Kyoto's own names: opts
// is 1 (small) + 2 (linear) + 4 (compressed).
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
