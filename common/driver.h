// The contract between the harness and one storage engine.
//
// A driver is one file in drivers/ that defines kDriver; each db_bench_<engine>
// executable links exactly one.  A driver translates calls and nothing else: it
// never reads the clock, prints, loops over operations, or emulates what its
// engine lacks.  Settings that only one engine has are gflags defined in its
// own driver file, under the names db_bench gives them; no other flag is read.
//
// Waiting and retrying.  A call may wait for the calls of other sessions,
// inside the engine or as the engine's documentation advises (with a busy
// handler, for one), for as long as it takes.  If the engine undoes a call
// because of a conflict with another session, and its documentation says to try
// again, the driver repeats the whole call, with the same arguments, until it
// succeeds. Both are part of the call's time and counted in
// Database::Counters().  Nothing else is retried.
//
// Failing.  Any exception other than Unsupported means that the engine failed:
// the measurement becomes "error" and carries no time.

#ifndef COMMON_DRIVER_H_
#define COMMON_DRIVER_H_

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace kvmatrix {

// Thrown when an engine cannot do what is asked, by Driver::open and by
// Database::Compact() alone.  What no Write() can do is declared in Limits. The
// measurement becomes "unsupported" with what() as its reason.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What every engine is asked for.  cache_size and compression are permissions:
// an engine without a cache or a codec ignores them.  sync is a guarantee: it
// is honoured, or Unsupported is thrown.
struct Options {
  std::filesystem::path path;  // an existing directory: empty, or a database
  uint64_t cache_size;         // bytes the engine may use to cache entries
  bool compression;            // compress entries if the engine has a codec
  bool sync;                   // Write() returns once the batch is durable
  uint64_t threads = 1;        // sessions that will be used at once

  // Hints about the filled database; 0: unknown.
  uint64_t expected_entries = 0;
  uint64_t key_size = 0;    // bytes of each key
  uint64_t value_size = 0;  // bytes of a value, unless a benchmark has its own

  bool operator==(const Options&) const = default;
};

// The most that an engine takes of something.
struct Limit {
  uint64_t max = std::numeric_limits<uint64_t>::max();
  const char* reason = "";  // for people, where the number does not say it
};

// What a Write() may hold.  The harness asks before it starts the clock: what
// is beyond a limit is never written, and the benchmark is "unsupported".  A
// Get() or Scan() of a longer key is answered like that of any absent key.
struct Limits {
  Limit key_size = {};    // bytes
  Limit value_size = {};  // bytes
  Limit batch_size = {};  // updates; 1: there is no atomic batch
};

// One put, or a delete when there is no value.
struct Update {
  std::string_view key;
  std::optional<std::string_view> value;
};

enum class Order { kForward, kBackward };

// Receives one entry of a scan; the views are valid during the call.  Returns
// false to stop the scan.  Calls nothing of the driver, which may hold locks
// meanwhile, and does not throw.  Refers to what it was made from, as a
// std::string_view does: a parameter, not a thing to keep.
class Visitor {
 public:
  // `visit` is called with the key and the value of an entry.
  template <typename Visit>
    requires(!std::is_same_v<std::remove_cvref_t<Visit>, Visitor>)
  // NOLINTNEXTLINE(google-explicit-constructor): a scan is given a lambda
  Visitor(Visit&& visit)
      : visit_(const_cast<void*>(static_cast<const void*>(&visit))),
        call_([](void* callee, std::string_view key, std::string_view value) {
          return (*static_cast<std::remove_reference_t<Visit>*>(callee))(key,
                                                                         value);
        }) {}

  bool operator()(std::string_view key, std::string_view value) const {
    return call_(visit_, key, value);
  }

 private:
  void* visit_;
  bool (*call_)(void*, std::string_view, std::string_view);
};

// One thread's handle on a Database: made, used and destroyed on that thread,
// while other threads use sessions of their own.  A Write() is seen by every
// Get() and Scan() that begins after it has returned, on any session.
class Session {
 public:
  virtual ~Session() = default;

  // Applies the whole batch.  One of several updates is atomic in a crash: if
  // the process dies, or with Options::sync the machine, the next opening finds
  // all of it or nothing.  Other sessions may read a part of it before Write()
  // returns.  Deleting an absent key succeeds.
  // REQUIRES: the batch is not empty and within Database::GetLimits()
  virtual void Write(std::span<const Update> batch) = 0;

  // Returns the value of `key`, or nothing if the key is absent.  The view is
  // valid until the next call on this session, or one on the database other
  // than NewSession().
  virtual std::optional<std::string_view> Get(std::string_view key) = 0;

  // Visits entries in bytewise key order: kForward from the first key at or
  // past `start`, kBackward from the last key at or before it.  An empty
  // `start` means the first or the last entry.  A driver that is not `ordered`
  // visits every entry once, in an order of its own; the harness then asks for
  // kForward and an empty start only.
  virtual void Scan(std::string_view start, Order order,
                    const Visitor& visit) = 0;
};

// An open database.  Destruction closes it, after that of its last session.
//
// NewSession() is thread-safe.  All else is called by one thread, at a moment
// when no session is inside a call.  Idle sessions may then exist, on other
// threads too, with the view of a last Get() still out.  What a session keeps
// open between its calls, such as a snapshot, must not keep the engine from
// doing the work: the driver closes it first.
class Database {
 public:
  virtual ~Database() = default;

  virtual std::unique_ptr<Session> NewSession() = 0;

  // What a Write() may hold with the Options of this database.  Called before
  // the first one.
  virtual Limits GetLimits() { return {}; }

  // Hands everything written so far to the operating system, so that it
  // survives the end of this process.  Need not reach the disk.  Called once
  // after a benchmark that may have written, also if it has written nothing,
  // and after Compact().
  virtual void Flush() = 0;

  // Returns once no deferred work is left: compactions done, log checkpointed.
  // Called where Flush() is, after it.  Settling again at once may do the work
  // again: nobody takes it to be cheap.
  virtual void Settle() = 0;

  // Reorganises the whole database, as CompactRange(begin, end) does; throws
  // Unsupported if the engine cannot do that while the database is open.
  virtual void Compact() = 0;

  // The settings in force, read back from the engine: name to value.  A value
  // that the engine cannot report is followed by " (as requested)".  Called
  // before the first Write(), and at any time after it.
  virtual std::map<std::string, std::string> EffectiveSettings() = 0;

  // What the driver counted so far of sessions that waited for one another or
  // repeated a call, such as how often the engine said that it was busy: name
  // to count, none of which ever falls.  Empty: it counts nothing.
  virtual std::map<std::string, uint64_t> Counters() { return {}; }
};

// What a driver file defines.
struct Driver {
  const char* name;     // as in configs/engines.toml
  const char* licence;  // SPDX expression for an executable with this engine
  const char* codec;    // what Options::compression turns on; "" for none
  bool ordered;         // Scan() visits in key order, in both directions
  bool stores;          // false only for the null driver: nothing is kept

  std::string (*version)();  // as the engine library itself reports it
  const void* code;          // the address of any function of the engine

  // Opens the database at options.path, creating it if it is not there.
  std::unique_ptr<Database> (*open)(const Options& options);
};

extern const Driver kDriver;

}  // namespace kvmatrix

#endif  // COMMON_DRIVER_H_
