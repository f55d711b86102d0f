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
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "common/driver.h"
#include "drivers/sqlite3_statement.h"

DEFINE_uint64(page_size, 4096, "size of a page, in bytes; it was 1024 in 2011");
DEFINE_uint64(wal_autocheckpoint, 1000,
              "pages in the log that trigger a checkpoint");
DEFINE_uint64(mmap_size, 0,
              "bytes of the database that are mapped into memory for reading");
DEFINE_bool(without_rowid, false,
            "store entries in the index of the keys (WITHOUT ROWID)");
DEFINE_string(journal_mode, "wal",
              "wal, or how a rollback journal ends: delete, truncate, persist");
DEFINE_string(synchronous, "",
              "off, normal, full or extra; empty means the least that "
              "--durability needs");
DEFINE_bool(nomutex, false,
            "no mutex for each call (SQLITE_OPEN_NOMUTEX): a connection "
            "belongs to one thread");
DEFINE_bool(memstatus, true,
            "count the memory in use, under a mutex "
            "(SQLITE_CONFIG_MEMSTATUS)");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

// The values of PRAGMA synchronous, in SQLite's order: each has its index.
inline constexpr std::string_view kSynchronous[] = {"off", "normal", "full",
                                                    "extra"};
inline constexpr std::string_view kJournalModes[] = {"wal", "delete",
                                                     "truncate", "persist"};

// Returns the least value that keeps the durability.  OFF: "the database might
// become corrupted".  NORMAL: "WAL mode is always consistent", while there is
// "a very small (though non-zero) chance" of corruption with a rollback
// journal.  EXTRA: "the directory containing a rollback journal is synced after
// that journal is unlinked to commit a transaction in DELETE mode", without
// which a power failure may undo the commit.
inline int LeastSynchronous(Durability durability) {
  const bool wal = FLAGS_journal_mode == "wal";
  const int least[] = {0, wal ? 1 : 2, FLAGS_journal_mode == "delete" ? 3 : 2};
  return least[static_cast<int>(durability)];
}

// Returns the value in force: that of --synchronous, if there is one.  An
// unknown one is OFF; Requested() refuses it.
inline int SynchronousOf(Durability durability) {
  if (FLAGS_synchronous.empty()) return LeastSynchronous(durability);
  const auto* const found = std::ranges::find(kSynchronous, FLAGS_synchronous);
  return found == std::end(kSynchronous)
             ? 0
             : static_cast<int>(found - std::begin(kSynchronous));
}

// Returns what SQLite documents for the journal and the value in force.
inline Guarantee GuaranteeOf(Durability durability) {
  const int value = SynchronousOf(durability);
  Promise promise = Promise::kMayBeCorrupt;
  if (value >= LeastSynchronous(Durability::kDurable)) {
    promise = Promise::kLosesNothing;
  } else if (value >= LeastSynchronous(Durability::kConsistent)) {
    promise = Promise::kLosesNewest;
  }
  return {promise, "https://sqlite.org/pragma.html#pragma_synchronous"};
}

// Throws Unsupported, with the name of the flag, unless the value is known.
inline void RequireKnown(const char* flag, const std::string& value,
                         std::span<const std::string_view> known) {
  if (std::ranges::find(known, value) != known.end()) return;
  std::string expected;
  for (const std::string_view each : known)
    expected += (expected.empty() ? "" : ", ") + std::string(each);
  throw Unsupported("--" + std::string(flag) + "=" + value + ": expected " +
                    expected);
}

// Each setting of Requested().  WAL fixes the page size, and exclusive locking
// must precede it to avoid a shared memory file.
inline constexpr const char* kInOrder[] = {
    "page_size",  "locking_mode", "journal_mode",  "wal_autocheckpoint",
    "cache_size", "synchronous",  "secure_delete", "mmap_size"};

// Returns the values of the PRAGMAs for one connection.  With several threads
// each session has a connection, among which the cache is divided.  Locking is
// not exclusive with a rollback journal, which SQLite would then never delete.
// Throws as RequireKnown() does.
inline Settings Requested(const Options& options) {
  RequireKnown("journal_mode", FLAGS_journal_mode, kJournalModes);
  if (!FLAGS_synchronous.empty())
    RequireKnown("synchronous", FLAGS_synchronous, kSynchronous);
  const bool alone = options.threads == 1 && FLAGS_journal_mode == "wal";
  const uint64_t pages =
      options.cache_size / std::max<uint64_t>(FLAGS_page_size, 1);
  return {{"page_size", std::to_string(FLAGS_page_size)},
          {"locking_mode", alone ? "exclusive" : "normal"},
          {"journal_mode", FLAGS_journal_mode},
          {"wal_autocheckpoint", std::to_string(FLAGS_wal_autocheckpoint)},
          {"cache_size", std::to_string(pages / options.threads)},
          {"synchronous", std::to_string(SynchronousOf(options.durability))},
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
