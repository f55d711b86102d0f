// The flags of mdbx.cc, the only file that includes this, and the options that
// they set.
//
//   mdbx_env_open(env, path, FlagsOf(durability), 0644)
//   Describe(env, FlagsOf(durability))   // throws if libmdbx has others

#ifndef DRIVERS_OPTIONS_MDBX_OPTIONS_H_
#define DRIVERS_OPTIONS_MDBX_OPTIONS_H_

#include <gflags/gflags.h>
#include <mdbx.h>

#include <map>
#include <stdexcept>
#include <string>

#include "common/driver.h"

DEFINE_uint64(map_size, 64ull << 30,
              "size to which the database may grow, in bytes");
DEFINE_int64(growth_step, -1,
             "bytes by which the file grows and shrinks; -1 means libmdbx's "
             "default, 16 MiB for large maps");
DEFINE_uint64(writethrough_threshold, 2,
              "with --durability=durable: a commit of at most this many pieces "
              "is written through a file opened with O_DSYNC; a larger one is "
              "synchronised by fdatasync (MDBX_opt_writethrough_threshold)");
DEFINE_bool(writemap, false,
            "write to the map instead of by system calls (MDBX_WRITEMAP)");
DEFINE_bool(nordahead, false, "no read-ahead of the system (MDBX_NORDAHEAD)");
DEFINE_bool(nomeminit, false,
            "do not clear memory that is written out (MDBX_NOMEMINIT)");
DEFINE_bool(liforeclaim, false,
            "reuse the pages that were freed last first (MDBX_LIFORECLAIM)");
DEFINE_bool(append, false,
            "as long as the keys of a session ascend, add them at the end "
            "(MDBX_APPEND)");
DEFINE_bool(hold_read_txn, false,
            "keep a session's read transaction until something is committed "
            "(mdbx_txn_refresh), instead of renewing it for each read");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

// The options of libmdbx that Describe() reads back, by their names.
// MDBX_UTTERLY_NOSYNC is a bit of its own and that of MDBX_SAFE_NOSYNC.
inline constexpr struct {
  const char* name;
  unsigned flag;
} kEnvironmentFlags[] = {
    {"liforeclaim", MDBX_LIFORECLAIM}, {"nomeminit", MDBX_NOMEMINIT},
    {"nordahead", MDBX_NORDAHEAD},     {"safe_nosync", MDBX_SAFE_NOSYNC},
    {"writemap", MDBX_WRITEMAP},       {"utterly_nosync", MDBX_UTTERLY_NOSYNC}};

inline void Check(int code) {
  if (code == MDBX_MAP_FULL)
    throw std::runtime_error("the database is full; raise --map_size");
  if (code != MDBX_SUCCESS) throw std::runtime_error(mdbx_strerror(code));
}

// Returns the flags of mdbx_env_open().  MDBX_NOSTICKYTHREADS unties a read
// transaction from its thread: the database ends those of idle sessions.
inline MDBX_env_flags_t FlagsOf(Durability durability) {
  constexpr unsigned kSyncFlags[] = {MDBX_UTTERLY_NOSYNC, MDBX_SAFE_NOSYNC,
                                     MDBX_SYNC_DURABLE};
  unsigned flags = kSyncFlags[static_cast<int>(durability)];
  flags |= MDBX_NOSTICKYTHREADS;
  if (FLAGS_writemap) flags |= MDBX_WRITEMAP;
  if (FLAGS_nordahead) flags |= MDBX_NORDAHEAD;
  if (FLAGS_nomeminit) flags |= MDBX_NOMEMINIT;
  if (FLAGS_liforeclaim) flags |= MDBX_LIFORECLAIM;
  return static_cast<MDBX_env_flags_t>(flags);
}

// Returns the settings in force.  Throws std::runtime_error if an option is not
// as in `requested`.
inline Settings Describe(MDBX_env* env, unsigned requested) {
  MDBX_envinfo info;
  unsigned flags = 0;
  uint64_t threshold = 0;
  Check(mdbx_env_info_ex(env, nullptr, &info, sizeof info));
  Check(mdbx_env_get_option(env, MDBX_opt_writethrough_threshold, &threshold));
  Check(mdbx_env_get_flags(env, &flags));
  const auto text = [](bool on) { return on ? "true" : "false"; };
  const std::string as_requested = " (as requested)";
  Settings settings = {
      {"append", text(FLAGS_append) + as_requested},
      {"cache_size", "none: the page cache"},
      {"growth_step", std::to_string(info.mi_geo.grow)},
      {"hold_read_txn", text(FLAGS_hold_read_txn) + as_requested},
      {"map_size", std::to_string(info.mi_geo.upper)},
      {"page_size", std::to_string(info.mi_dxb_pagesize)},
      {"shrink_threshold", std::to_string(info.mi_geo.shrink)},
      {"writethrough_threshold", std::to_string(threshold)}};
  for (const auto& [name, flag] : kEnvironmentFlags) {
    const bool on = (flags & flag) == flag;
    settings[name] = text(on);
    if (on != ((requested & flag) == flag))
      throw std::runtime_error(std::string(name) + " is " + settings[name] +
                               ", not as requested");
  }
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_MDBX_OPTIONS_H_
