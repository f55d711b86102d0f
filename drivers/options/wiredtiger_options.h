// The flags of wiredtiger.cc, the only file that includes this, and the
// configuration that they make.
//
//   wiredtiger_open(path, handler, ConnectionConfig(options).c_str(), &c)
//   session->create(session, kTable, TableConfig(options).c_str())
//   Describe(connection, session, options)   // throws if others are in force

#ifndef DRIVERS_OPTIONS_WIREDTIGER_OPTIONS_H_
#define DRIVERS_OPTIONS_WIREDTIGER_OPTIONS_H_

#include <gflags/gflags.h>
#include <wiredtiger.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "common/driver.h"

DEFINE_uint64(memory_page_max, 0,
              "size to which a page may grow in memory, in bytes; 0 means "
              "WiredTiger's default, 5 MiB, but at most a tenth of the cache, "
              "as its documentation asks");
DEFINE_uint64(leaf_page_max, 32 << 10, "size of a leaf page, in bytes");
DEFINE_uint64(internal_page_max, 4 << 10, "size of an internal page, in bytes");
// WiredTiger's own defaults are 100 MB, in advance: two files of that size
// would be most of what a small database occupies.
DEFINE_uint64(log_file_max, 1 << 20, "size of a file of the log, in bytes");
DEFINE_bool(log_prealloc, false, "create files of the log in advance");
DEFINE_uint64(checkpoint_log_size, 0,
              "a checkpoint after this many bytes of log, in the background; 0 "
              "means none but in a settle and at the end");
DEFINE_uint64(checkpoint_wait, 0,
              "a checkpoint after this many seconds, in the background; 0 "
              "means none but in a settle and at the end");
DEFINE_uint64(eviction_threads_max, 8,
              "threads that move pages out of the cache, at most");
DEFINE_string(checksum, "on",
              "which blocks have a checksum: on, off, uncompressed or "
              "unencrypted");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

inline constexpr char kTable[] = "table:kv";

// The newest message of WiredTiger to this thread.
inline std::string& Message() {
  thread_local std::string message;
  return message;
}

inline void Check(int code) {
  if (code == 0) return;
  throw std::runtime_error(std::string(wiredtiger_strerror(code)) + " " +
                           Message());
}

inline const char* TextOf(bool on) { return on ? "true" : "false"; }

// "name=value,"
inline std::string Item(const std::string& name, const std::string& value) {
  return name + "=" + value + ",";
}
inline std::string Item(const std::string& name, uint64_t value) {
  return Item(name, std::to_string(value));
}

// WiredTiger refuses less than a mebibyte.
inline uint64_t CacheSize(const Options& options) {
  return std::max(options.cache_size, uint64_t{1} << 20);
}

// A commit writes its log records to the file: method none, or synchronises
// them.
inline const char* SyncMethod(const Options& options) {
  return options.durability == Durability::kDurable ? "fsync" : "none";
}

inline uint64_t MemoryPageMax(const Options& options) {
  if (FLAGS_memory_page_max > 0) return FLAGS_memory_page_max;
  return std::min(uint64_t{5} << 20, CacheSize(options) / 10);
}

inline std::string ConnectionConfig(const Options& options) {
  constexpr uint64_t kServers = 32;  // more than its own sessions
  std::string checkpoints;
  if (FLAGS_checkpoint_log_size > 0)
    checkpoints += Item("log_size", FLAGS_checkpoint_log_size);
  if (FLAGS_checkpoint_wait > 0)
    checkpoints += Item("wait", FLAGS_checkpoint_wait);
  return "create," + Item("cache_size", CacheSize(options)) +
         Item("session_max", std::max(options.threads + kServers, 100ul)) +
         Item("eviction",
              "(" + Item("threads_max", FLAGS_eviction_threads_max) + ")") +
         Item("log", "(enabled=true," + Item("file_max", FLAGS_log_file_max) +
                         Item("prealloc", TextOf(FLAGS_log_prealloc)) + ")") +
         Item("transaction_sync",
              "(enabled=true," + Item("method", SyncMethod(options)) + ")") +
         (checkpoints.empty() ? ""
                              : Item("checkpoint", "(" + checkpoints + ")"));
}

// What TableConfig() sets and Describe() reads back.
inline Settings TableSettings(const Options& options) {
  return {{"block_compressor", options.compression ? "snappy" : "none"},
          {"checksum", FLAGS_checksum},
          {"internal_page_max", std::to_string(FLAGS_internal_page_max)},
          {"leaf_page_max", std::to_string(FLAGS_leaf_page_max)},
          {"memory_page_max", std::to_string(MemoryPageMax(options))}};
}

inline std::string TableConfig(const Options& options) {
  std::string config = "key_format=u,value_format=u,";
  for (const auto& [name, value] : TableSettings(options))
    config += Item(name, value);
  return config;
}

// Returns the configuration of the table's file, from WiredTiger's metadata.
inline std::string FileMetadata(WT_SESSION* session) {
  WT_CURSOR* cursor = nullptr;
  const char* config = "";
  Check(session->open_cursor(session, "metadata:", nullptr, nullptr, &cursor));
  cursor->set_key(cursor, "file:kv.wt");
  Check(cursor->search(cursor));
  Check(cursor->get_value(cursor, &config));
  const std::string copy = config;
  Check(cursor->close(cursor));
  return copy;
}

// Returns the size of the cache, from the statistics, which are off otherwise.
inline std::string CacheInForce(WT_CONNECTION* connection,
                                WT_SESSION* session) {
  WT_CURSOR* cursor = nullptr;
  const char* description = nullptr;
  const char* text = nullptr;
  int64_t value = 0;
  Check(connection->reconfigure(connection, "statistics=(fast)"));
  Check(
      session->open_cursor(session, "statistics:", nullptr, nullptr, &cursor));
  cursor->set_key(cursor, WT_STAT_CONN_CACHE_BYTES_MAX);
  Check(cursor->search(cursor));
  Check(cursor->get_value(cursor, &description, &text, &value));
  Check(cursor->close(cursor));
  Check(connection->reconfigure(connection, "statistics=(none)"));
  return std::to_string(value);
}

// Returns the settings in force.  Throws std::runtime_error if one is not as
// requested.
inline Settings Describe(WT_CONNECTION* connection, WT_SESSION* session,
                         const Options& options) {
  const std::string as_requested = " (as requested)";
  Settings settings = {
      {"cache_size", CacheInForce(connection, session)},
      {"checkpoint_log_size",
       std::to_string(FLAGS_checkpoint_log_size) + as_requested},
      {"checkpoint_wait", std::to_string(FLAGS_checkpoint_wait) + as_requested},
      {"eviction_threads_max",
       std::to_string(FLAGS_eviction_threads_max) + as_requested},
      {"log_file_max", std::to_string(FLAGS_log_file_max) + as_requested},
      {"log_prealloc", TextOf(FLAGS_log_prealloc) + as_requested},
      {"transaction_sync", SyncMethod(options) + as_requested}};
  const std::string metadata = FileMetadata(session);
  WT_CONFIG_PARSER* parser = nullptr;
  Check(wiredtiger_config_parser_open(nullptr, metadata.c_str(),
                                      metadata.size(), &parser));
  for (const auto& [name, requested] : TableSettings(options)) {
    WT_CONFIG_ITEM item;
    Check(parser->get(parser, name.c_str(), &item));
    settings[name] = item.type == item.WT_CONFIG_ITEM_NUM
                         ? std::to_string(item.val)
                         : std::string(item.str, item.len);
    if (settings[name] != requested)
      throw std::runtime_error(name + " is " + settings[name] + ", not " +
                               requested + " as requested");
  }
  Check(parser->close(parser));
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_WIREDTIGER_OPTIONS_H_
