// The flags of berkeleydb.cc, the only file that includes this, and the
// environment and settings that they make.
//
//   DB_ENV* env = OpenEnvironment(options);
//   Describe(env, db, options)   // throws if Berkeley DB has other settings
//
// Defaults are the library's own, except that old logs are removed and that a
// checkpoint is made now and then.  See drivers/ENGINES_ON_REQUEST.md.

#ifndef DRIVERS_OPTIONS_BERKELEYDB_OPTIONS_H_
#define DRIVERS_OPTIONS_BERKELEYDB_OPTIONS_H_

#include <db.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/driver.h"

DEFINE_uint32(page_size, 0,
              "size of a page, in bytes; 0 means Berkeley DB's default, the "
              "block size of the file system");
DEFINE_uint32(log_buffer_size, 0,
              "size of the buffer of the log, in bytes; 0 means Berkeley DB's "
              "default");
DEFINE_uint32(checkpoint_kbytes, 64 << 10,
              "kilobytes of log after which a write makes a checkpoint; 0 "
              "means never");
DEFINE_bool(multiversion, false,
            "scans read a snapshot and take no locks (DB_MULTIVERSION, "
            "DB_TXN_SNAPSHOT)");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

// The last message of the library on this thread, which says more than the code
// of an error.
inline thread_local std::string message;

inline void Check(int code) {
  if (code == 0) return;
  const std::string why = message.empty() ? "" : ": " + message;
  throw std::runtime_error(db_strerror(code) + why);
}

struct EnvironmentCloser {
  void operator()(DB_ENV* env) const { env->close(env, 0); }
};
struct DatabaseCloser {
  void operator()(DB* db) const { db->close(db, 0); }
};
using Environment = std::unique_ptr<DB_ENV, EnvironmentCloser>;
using BTree = std::unique_ptr<DB, DatabaseCloser>;

// Returns the size of the cache to ask for.  Berkeley DB "increases by 25 %"
// sizes below 500 MB, to account for overhead (DB_ENV->set_cachesize()).
// Pages of a call must fit, so there is a minimum: 256 KiB is its default.
inline uint64_t CacheToAskFor(const Options& options) {
  constexpr uint64_t kIncreased = 500'000'000;
  const uint64_t size = std::max<uint64_t>(options.cache_size, 256 << 10);
  return size < kIncreased ? size / 5 * 4 : size;
}

// Returns an environment with transactions, opened, and recovered if the last
// process did not close it.  Throws as Check() does.
inline Environment OpenEnvironment(const Options& options) {
  DB_ENV* created = nullptr;
  Check(db_env_create(&created, 0));
  Environment env(created);
  created->set_errcall(created, [](const DB_ENV*, const char*,
                                   const char* text) { message = text; });
  constexpr uint64_t kGigabyte = 1 << 30;
  const uint64_t cache = CacheToAskFor(options);
  Check(env->set_cachesize(created, static_cast<uint32_t>(cache / kGigabyte),
                           static_cast<uint32_t>(cache % kGigabyte), 1));
  if (FLAGS_log_buffer_size > 0)
    Check(env->set_lg_bsize(created, FLAGS_log_buffer_size));
  Check(env->set_lk_detect(created, DB_LOCK_MINWRITE));
  Check(env->log_set_config(created, DB_LOG_AUTO_REMOVE, 1));
  if (options.durability != Durability::kDurable)
    Check(env->set_flags(created, DB_TXN_WRITE_NOSYNC, 1));
  constexpr uint32_t kSubsystems =
      DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_MPOOL | DB_INIT_TXN;
  Check(env->open(created, options.path.c_str(),
                  DB_CREATE | DB_RECOVER | DB_PRIVATE | DB_THREAD | kSubsystems,
                  0));
  return env;
}

// Returns the B-tree of the environment, which is created if there is none.
// Throws as Check() does.
inline BTree OpenDatabase(DB_ENV* env) {
  DB* created = nullptr;
  Check(db_create(&created, env, 0));
  BTree db(created);
  if (FLAGS_page_size > 0) Check(db->set_pagesize(created, FLAGS_page_size));
  const uint32_t versions = FLAGS_multiversion ? DB_MULTIVERSION : 0;
  Check(db->open(created, nullptr, "kv.db", nullptr, DB_BTREE,
                 DB_CREATE | DB_AUTO_COMMIT | DB_THREAD | versions, 0));
  return db;
}

// Returns the settings in force.  Throws std::runtime_error if one is not as
// requested.
inline Settings Describe(DB_ENV* env, DB* db) {
  uint32_t gigabytes, bytes, log_buffer, log_file, flags, page, detect;
  int caches;
  Check(env->get_cachesize(env, &gigabytes, &bytes, &caches));
  Check(env->get_lg_bsize(env, &log_buffer));
  Check(env->get_lg_max(env, &log_file));
  Check(env->get_flags(env, &flags));
  Check(env->get_lk_detect(env, &detect));
  Check(db->get_pagesize(db, &page));
  const uint64_t cache = (uint64_t{gigabytes} << 30) + bytes;
  Settings settings = {
      {"cache_size", std::to_string(cache)},
      {"checkpoint_kbytes",
       std::to_string(FLAGS_checkpoint_kbytes) + " (as requested)"},
      {"lg_bsize", std::to_string(log_buffer)},
      {"lg_max", std::to_string(log_file)},
      {"lk_detect", detect == DB_LOCK_MINWRITE ? "DB_LOCK_MINWRITE" : "other"},
      {"multiversion",
       std::string(FLAGS_multiversion ? "true" : "false") + " (as requested)"},
      {"pagesize", std::to_string(page)},
      {"txn_write_nosync", flags & DB_TXN_WRITE_NOSYNC ? "true" : "false"}};
  const std::map<std::string, uint32_t> expected = {
      {"lg_bsize", FLAGS_log_buffer_size}, {"pagesize", FLAGS_page_size}};
  for (const auto& [name, value] : expected)
    if (value > 0 && settings[name] != std::to_string(value))
      throw std::runtime_error(name + " is " + settings[name] + ", not " +
                               std::to_string(value) + " as requested");
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_BERKELEYDB_OPTIONS_H_
