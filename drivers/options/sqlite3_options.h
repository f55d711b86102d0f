// The flags of sqlite3.cc, the only file that includes this, and the settings
// that they make.
//
//   SetMemstatus();                       // before the first connection
//   sqlite3_open_v2(path, &db, OpenFlags(), nullptr)
//   Settings settings = Requested(options);
//   for (const char* name : kInOrder) ... PRAGMA name = settings[name] ...
//
// Defaults are those of SQLite 3.46, except that the log is write-ahead; the
// scenarios set what LevelDB's program of 2011 used.  See drivers/ENGINES.md.

#ifndef DRIVERS_OPTIONS_SQLITE3_OPTIONS_H_
#define DRIVERS_OPTIONS_SQLITE3_OPTIONS_H_

#include <gflags/gflags.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <string>

#include "common/driver.h"
#include "drivers/sqlite3_statement.h"

DEFINE_uint64(page_size, 4096, "size of a page, in bytes; it was 1024 in 2011");
DEFINE_uint64(wal_autocheckpoint, 1000,
              "pages in the log that trigger a checkpoint");
DEFINE_uint64(mmap_size, 0,
              "bytes of the database that are mapped into memory for reading");
DEFINE_bool(without_rowid, false,
            "store entries in the index of the keys (WITHOUT ROWID)");
DEFINE_bool(nomutex, false,
            "no mutex for each call (SQLITE_OPEN_NOMUTEX): a connection "
            "belongs to one thread");
DEFINE_bool(memstatus, true,
            "count the memory in use, under a mutex "
            "(SQLITE_CONFIG_MEMSTATUS)");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

// Each setting of Requested().  WAL fixes the page size, and exclusive locking
// must precede it to avoid a shared memory file.
inline constexpr const char* kInOrder[] = {
    "page_size",  "locking_mode", "journal_mode",  "wal_autocheckpoint",
    "cache_size", "synchronous",  "secure_delete", "mmap_size"};

// Returns the values of the PRAGMAs for one connection.  With several threads
// each session has a connection, among which the cache is divided.
inline Settings Requested(const Options& options) {
  const uint64_t pages =
      options.cache_size / std::max<uint64_t>(FLAGS_page_size, 1);
  return {{"page_size", std::to_string(FLAGS_page_size)},
          {"locking_mode", options.threads > 1 ? "normal" : "exclusive"},
          {"journal_mode", "wal"},
          {"wal_autocheckpoint", std::to_string(FLAGS_wal_autocheckpoint)},
          {"cache_size", std::to_string(pages / options.threads)},
          // OFF, NORMAL and FULL.
          {"synchronous", std::to_string(static_cast<int>(options.durability))},
          {"secure_delete", "0"},
          {"mmap_size", std::to_string(FLAGS_mmap_size)}};
}

inline int OpenFlags() {
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
         (FLAGS_nomutex ? SQLITE_OPEN_NOMUTEX : SQLITE_OPEN_FULLMUTEX);
}

// Applies --memstatus to the whole process.  SQLite accepts that only before
// it is initialised, so the first database of a process decides.
inline void SetMemstatus() {
  static const int code =
      sqlite3_config(SQLITE_CONFIG_MEMSTATUS, FLAGS_memstatus ? 1 : 0);
  Check(code);
}

// Returns whether memory is counted.  REQUIRES: a connection is open, which has
// allocated some
inline std::string Memstatus() {
  return sqlite3_memory_used() > 0 ? "true" : "false";
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_SQLITE3_OPTIONS_H_
