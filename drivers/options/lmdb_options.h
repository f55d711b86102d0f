// The flags of lmdb.cc, the only file that includes this, and the options that
// they set.
//
//   mdb_env_open(env, path, FlagsOf(durability), 0644)
//   Describe(env, FlagsOf(durability))   // throws if LMDB has other options

#ifndef DRIVERS_OPTIONS_LMDB_OPTIONS_H_
#define DRIVERS_OPTIONS_LMDB_OPTIONS_H_

#include <gflags/gflags.h>
#include <lmdb.h>

#include <map>
#include <stdexcept>
#include <string>

#include "common/driver.h"
#include "drivers/lmdb_environment.h"

DEFINE_uint64(map_size, 64ull << 30,
              "size to which the database may grow, in bytes");
DEFINE_bool(writemap, false,
            "write to the map instead of by system calls (MDB_WRITEMAP)");
DEFINE_bool(mapasync, false,
            "with --writemap and --durability=buffered: start to write back at "
            "each commit (MDB_MAPASYNC) instead of never (MDB_NOSYNC)");
DEFINE_bool(nordahead, false, "no read-ahead of the system (MDB_NORDAHEAD)");
DEFINE_bool(nomeminit, false,
            "do not clear memory that is written out (MDB_NOMEMINIT)");
DEFINE_bool(append, false,
            "as long as the keys of a session ascend, add them at the end "
            "(MDB_APPEND)");
DEFINE_bool(hold_read_txn, false,
            "keep a session's read transaction until something is committed, "
            "instead of renewing it for each read");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

// The options of LMDB that Describe() reads back, by their names.
inline constexpr struct {
  const char* name;
  unsigned flag;
} kEnvironmentFlags[] = {
    {"mapasync", MDB_MAPASYNC},     {"nomeminit", MDB_NOMEMINIT},
    {"nometasync", MDB_NOMETASYNC}, {"nordahead", MDB_NORDAHEAD},
    {"nosync", MDB_NOSYNC},         {"writemap", MDB_WRITEMAP}};

// Returns the flags of mdb_env_open().  Throws Unsupported for --mapasync where
// LMDB would ignore it, or would lose what the durability promises.
inline unsigned FlagsOf(Durability durability) {
  constexpr unsigned kSyncFlags[] = {MDB_NOSYNC, MDB_NOMETASYNC, 0};
  unsigned flags = kSyncFlags[static_cast<int>(durability)];
  if (FLAGS_mapasync) {
    if (!FLAGS_writemap || durability != Durability::kBuffered)
      throw Unsupported(
          "--mapasync: only with --writemap and --durability=buffered");
    flags = MDB_MAPASYNC;
  }
  return flags | (FLAGS_writemap ? MDB_WRITEMAP : 0u) |
         (FLAGS_nordahead ? MDB_NORDAHEAD : 0u) |
         (FLAGS_nomeminit ? MDB_NOMEMINIT : 0u);
}

// Returns the settings in force.  Throws std::runtime_error if an option is not
// as in `requested`.
inline Settings Describe(MDB_env* env, unsigned requested) {
  MDB_envinfo info;
  unsigned flags = 0;
  Check(mdb_env_info(env, &info));
  Check(mdb_env_get_flags(env, &flags));
  const auto text = [](bool on) { return on ? "true" : "false"; };
  const std::string as_requested = " (as requested)";
  Settings settings = {
      {"append", text(FLAGS_append) + as_requested},
      {"cache_size", "none: the page cache"},
      {"hold_read_txn", text(FLAGS_hold_read_txn) + as_requested},
      {"map_size", std::to_string(info.me_mapsize)}};
  for (const auto& [name, flag] : kEnvironmentFlags) {
    settings[name] = text(flags & flag);
    if ((flags & flag) != (requested & flag))
      throw std::runtime_error(std::string(name) + " is " + settings[name] +
                               ", not as requested");
  }
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_LMDB_OPTIONS_H_
