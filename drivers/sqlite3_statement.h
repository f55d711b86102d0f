// Helpers for sqlite3.cc: prepared statements, and waiting for a busy database.
// A failure is thrown as std::runtime_error with SQLite's own message.
//
//   const Statement get = Prepare(db, "SELECT v FROM kv WHERE k = ?");
//   Bind(get, 1, key);
//   if (Step(get)) ... Column(get, 0) ...    // until the next reset
//   Check(sqlite3_reset(get.get()));
//
// Not thread-safe: a connection and its statements belong to one session.

#ifndef DRIVERS_SQLITE3_STATEMENT_H_
#define DRIVERS_SQLITE3_STATEMENT_H_

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvmatrix {

// Finalised with the object, which its connection must outlive.
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

// Throws the text of the error code unless it is SQLITE_OK.
inline void Check(int code) {
  if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errstr(code));
}

// Returns the statement, compiled and reset.  Throws if the SQL is wrong.
inline Statement Prepare(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  Check(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr));
  return {statement, &sqlite3_finalize};
}

// Advances the statement.  Returns true if there is a row; otherwise, after the
// last row as after an error, resets the statement, which reports the error of
// sqlite3_step() if there was one.
inline bool Step(const Statement& statement) {
  if (sqlite3_step(statement.get()) == SQLITE_ROW) return true;
  Check(sqlite3_reset(statement.get()));
  return false;
}

// Binds bytes to a parameter, counted from 1.  They must stay unchanged until
// the statement is reset: SQLite makes no copy.  A null pointer would be bound
// as NULL, which is not an empty value.
// REQUIRES: the statement is reset
inline void Bind(const Statement& s, int parameter, std::string_view v) {
  const char* data = v.data() != nullptr ? v.data() : "";
  Check(sqlite3_bind_blob64(s.get(), parameter, data, v.size(), SQLITE_STATIC));
}

// Returns a column of the current row, counted from 0, valid until the
// statement is reset or stepped.  Fetches the value object first, so that the
// connection's mutex is locked once and not for the data and again for the
// size.
// REQUIRES: Step() has returned true; no other thread uses the connection
inline std::string_view Column(const Statement& s, int column) {
  sqlite3_value* const value = sqlite3_column_value(s.get(), column);
  const void* data = sqlite3_value_blob(value);
  const size_t size = sqlite3_value_bytes(value);
  return {static_cast<const char*>(data), size};
}

// Returns the longest value that can be stored, in bytes.  SQLite limits the
// size of a row (1e9 bytes unless configured), which also holds the key and a
// header: 4,096 bytes are more than both.
inline uint64_t LongestValue(sqlite3* db) {
  constexpr int kRowOverhead = 4096;
  return sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1) - kRowOverhead;
}

// Resets every statement of the connection, which ends its reads, such as one
// whose view has not been given up.  Ignores the results: a reset repeats an
// error that sqlite3_step() has reported before.
// REQUIRES: no other thread uses the connection
inline void ResetAll(sqlite3* db) {
  sqlite3_stmt* open = nullptr;
  while ((open = sqlite3_next_stmt(db, open))) sqlite3_reset(open);
}

// Runs a statement up to its first row and returns the first column of that
// row, or "" if there is none.  Throws if that is not `expected`, unless
// `expected` is "": a PRAGMA returns the value in force, which need not be the
// requested one.
inline std::string Run(sqlite3* db, const std::string& sql,
                       const std::string& expected = "") {
  const Statement statement = Prepare(db, sql);
  const std::string value(Step(statement) ? Column(statement, 0) : "");
  if (value == expected || expected.empty()) return value;
  throw std::runtime_error(sql + ": SQLite has " + value + " in force, not " +
                           expected);
}

// A busy handler with the delays of sqlite3_busy_timeout(), but without a time
// limit.  `before` is the number of earlier calls for the same lock.  Returns
// 1: try again.  Counts the calls in `retries`, a std::atomic<uint64_t> that
// all connections share.
inline int CountAndWait(void* retries, int before) {
  constexpr int kDelaysMs[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
  ++*static_cast<std::atomic<uint64_t>*>(retries);
  sqlite3_sleep(kDelaysMs[std::min(before, 11)]);
  return 1;
}

}  // namespace kvmatrix

#endif  // DRIVERS_SQLITE3_STATEMENT_H_
