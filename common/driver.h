// The contract between the harness and one storage engine.
//
// A driver is one file in drivers/ that defines kDriver.  Each executable
// db_bench_<engine> links exactly one.  A driver translates calls and does
// nothing else: it does not read the clock, print, loop over operations, or
// emulate what its engine lacks.  Settings that only one engine has are gflags
// defined in its driver file, with the names that db_bench uses; a driver reads
// no other flags.
//
// Waiting and retrying.  A call may wait for calls of other sessions, inside
// the engine or as the engine's documentation advises (in a busy handler, for
// example), for as long as that takes.  If the engine rolls a call back because
// of a conflict with another session, and its documentation says to try again,
// the driver repeats the whole call with the same arguments until it succeeds.
// Waiting and repeating are part of the call's time and are counted in
// Database::Counters().  Nothing else is retried: any other error is thrown.
//
// Errors.  Unsupported means that the engine cannot do what is requested.  Only
// Driver::open and Database::Compact() throw it.  Any other exception, from any
// call, means that the engine failed: the measurement becomes "error" and has
// no time.  The harness then makes no further call on that session, destroys
// all sessions, and closes the database.

#ifndef COMMON_DRIVER_H_
#define COMMON_DRIVER_H_

#include <array>
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

// Thrown by Driver::open if the engine cannot honour the Options, and by
// Database::Compact() if it cannot compact an open database; by no other call.
// The measurement becomes "unsupported", with what() as its reason.  What no
// Write() can do is declared in Limits instead, before the clock starts.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a crash of the machine, such as a loss of power, may do to the database.
// The levels are ordered: each promises what the one before does.
enum class Durability {
  kBuffered,    // whatever the engine documents; it may even be corrupt
  kConsistent,  // the newest writes may be lost; what is left is the state
                // after an earlier write
  kDurable,     // nothing is lost whose Write() has returned
};
inline constexpr size_t kDurabilities = 3;

// What an engine's documentation promises for one setting of the engine, which
// may be more than the Durability that selects it.  Whether the engine keeps
// the promise is another question.
enum class Promise {
  kLosesNothing,  // that was acknowledged
  kLosesNewest,   // may lose the newest writes; the others are intact
  kMayBeCorrupt,  // may lose any write, or not be readable
};
struct Guarantee {
  std::optional<Promise> promise = {};  // nothing: open() throws Unsupported
  const char* source = "";  // the address where its documentation says so
};
using Guarantees = std::array<Guarantee, kDurabilities>;

// How to open a database.  cache_size and compression are permissions: an
// engine without a cache or a codec ignores them.  durability is a guarantee:
// it is honoured, or Unsupported is thrown.  It holds for the writes that
// follow: a database that was written with a weaker one and closed must open,
// too, since databases are prepared with the weakest.
struct Options {
  std::filesystem::path path;  // existing directory: empty, or a database
  uint64_t cache_size;         // bytes the engine may use to cache entries
  bool compression;            // compress entries if the engine has a codec
  Durability durability;       // of each Write() that has returned
  uint64_t threads = 1;        // sessions that will be used at once

  // Hints about the filled database; 0: unknown.  A driver may size tables by
  // them; they are not limits.
  uint64_t expected_entries = 0;
  uint64_t key_size = 0;    // bytes of each key
  uint64_t value_size = 0;  // bytes of a value in most benchmarks

  bool operator==(const Options&) const = default;
};

// The most that an engine accepts of something.
struct Limit {
  uint64_t max = std::numeric_limits<uint64_t>::max();
  const char* reason = "";  // shown to users, if the number needs explaining
};

// What a Write() may contain.  The harness compares each benchmark with these
// limits before it starts the clock; a benchmark that exceeds one is not run
// and is "unsupported".  They restrict writes only: a Get() or Scan() with a
// longer key must behave as with any other absent key.
struct Limits {
  Limit key_size = {};    // bytes
  Limit value_size = {};  // bytes
  Limit batch_size = {};  // updates; 1: no atomic batches
};

// A put, or a delete if there is no value.  An empty value is a value.  The
// views are valid during the call.
struct Update {
  std::string_view key;
  std::optional<std::string_view> value;
};

// Directions of a scan, in bytewise key order.
enum class Order { kForward, kBackward };

// The scans that an engine has.
enum class ScanSupport {
  kUnordered,  // of the whole database, in an order of the engine's own
  kForward,    // in key order from any key, forward only
  kBothWays,   // in key order from any key, in both directions
};

// The names in descriptions.
constexpr std::string_view NameOf(ScanSupport scans) {
  constexpr std::string_view kNames[] = {"unordered", "forward", "both ways"};
  return kNames[static_cast<int>(scans)];
}

// Receives the entries of a scan, one call each, and returns false to stop the
// scan.  A parameter type like std::string_view: it refers to the callable that
// it was made from and must not be stored.
//
// The views passed to it are valid during that call only.  A visitor must not
// call the session or the database, which may hold locks or an open cursor
// meanwhile.  The harness's visitors do not throw; if one does, the exception
// must leave Scan() and the session must remain usable.
class Visitor {
 public:
  // `visit` is called as bool(std::string_view key, std::string_view value).
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

// One thread's handle on a Database.  It is created, used and destroyed on the
// same thread, while other threads use sessions of their own.
//
// Visibility.  A Write() is visible to every Get() and Scan() that begins after
// it has returned, on any session.  A Get() or Scan() during a Write() returns,
// for each key, the value before or after one of the updates, never a mixture
// of two values.
class Session {
 public:
  virtual ~Session() = default;

  // Applies all updates of the batch, in their order: a key may occur twice.
  // Deleting an absent key succeeds.
  //
  // A batch of several updates is atomic in a crash: if the process dies (with
  // kConsistent and kDurable also if the machine does), the next opening finds
  // either all of its updates or none.  It need not be atomic for readers:
  // before Write() returns, other sessions may see some of the updates and not
  // the others. With kDurable the batch is durable on return.
  //
  // REQUIRES: the batch is not empty and within Database::GetLimits()
  virtual void Write(std::span<const Update> batch) = 0;

  // Returns the value of `key`, or nothing if the key is absent.  The view is
  // valid until the next call on this session, its destruction, or the next
  // call on the database other than NewSession().  Calls on other sessions do
  // not invalidate it.
  virtual std::optional<std::string_view> Get(std::string_view key) = 0;

  // Makes each later Write() of this session durable if `durable`, as with
  // Durability::kDurable, and otherwise as durable as the Options say.  Called
  // only if Driver::mixes_durability, of a database that was opened with a
  // weaker level, while this is the only session.
  virtual void SetDurable(bool durable) {
    static_cast<void>(durable);
    throw std::logic_error("the driver has one level of durability");
  }

  // Calls `visit` for entries in bytewise key order until it returns false or
  // no entry is left.  kForward starts at the first key at or after `start`,
  // kBackward at the last key at or before it.  An empty `start` means the
  // first or the last entry.
  //
  // An entry that another session overwrites during the scan is visited once,
  // with its old or its new value.  One that is inserted or deleted during the
  // scan may or may not be visited.
  //
  // Driver::scans may restrict this.  A driver with ScanSupport::kForward is
  // never called with kBackward.  One with ScanSupport::kUnordered visits the
  // entries in an order of its own, and is called with kForward and an empty
  // `start` only; an entry that is moved by a concurrent write may then be
  // visited twice or not at all.
  virtual void Scan(std::string_view start, Order order,
                    const Visitor& visit) = 0;
};

// An open database.  The destructor closes it, after all sessions have been
// destroyed.
//
// Threads.  NewSession() may be called from any thread at any time.  Every
// other method is called by one thread while no session is inside a call.  Idle
// sessions may exist then, on other threads too, and the view of a last Get()
// need not have been given up: the call ends it.  Whatever an idle session
// keeps open, such as a snapshot or a read transaction, must not prevent the
// engine from doing the work: the driver closes it first.  The session remains
// usable.
class Database {
 public:
  virtual ~Database() = default;

  // Returns a session for the calling thread.  Thread-safe.
  virtual std::unique_ptr<Session> NewSession() = 0;

  // Returns what a Write() may contain under the Options of this database.
  // Called before the first Write().
  virtual Limits GetLimits() { return {}; }

  // Hands everything written so far to the operating system, so that it
  // survives the death of this process.  It need not reach the disk.  Called
  // once after each benchmark that may have written, even if it wrote nothing,
  // and after Compact().  May be called repeatedly.
  virtual void Flush() = 0;

  // Returns once the engine is idle: once it has done what it would have done
  // by itself if it had been left alone, in its background threads or, if it
  // has none, in a later write or at the end (a checkpoint).  Does not start a
  // reorganisation; that is Compact().  Throws an error that has ended the
  // background work.  Called after Flush(), unless the run does not settle.  A
  // second call in a row finds nothing to do.
  virtual void Settle() = 0;

  // Reorganises the whole database, like CompactRange(begin, end) in db_bench:
  // merges all levels, rewrites all pages, or moves all records together.
  // Contents do not change.  Throws Unsupported if the engine cannot do that
  // while the database is open.
  virtual void Compact() = 0;

  // Returns the settings in force, read back from the engine: name to value.  A
  // value that the engine cannot report is the requested one followed by " (as
  // requested)".  Not empty.  Called before the first Write(), and possibly
  // later.
  virtual std::map<std::string, std::string> EffectiveSettings() = 0;

  // Returns what the driver has counted of waiting and repeated calls since it
  // opened the database, such as how often the engine reported that it was
  // busy: name to count.  Counts never decrease.  Empty if nothing is counted.
  virtual std::map<std::string, uint64_t> Counters() { return {}; }

  // Closes the database if errors of closing can be reported: throws them.
  // Called right before the destructor, which otherwise closes it; not called
  // after an error.
  virtual void Close() {}
};

// What a driver file defines.  Constant data.
struct Driver {
  const char* name;     // as in configs/engines.toml
  const char* licence;  // SPDX expression for an executable with this engine
  const char* codec;    // enabled by Options::compression; "": none
  ScanSupport scans;    // a benchmark that needs others is "unsupported"
  bool stores;          // false only for null drivers, which store nothing

  // Returns what the engine documents for each Durability, in that order, with
  // the driver's flags as they are.  A flag may weaken a promise, never
  // silently.
  Guarantees (*guarantees)();

  // As reported by the engine library itself, such as "1.23" or "5.3.28-rc1":
  // starts with a digit, ends with a digit or a letter.  An engine without
  // versions has the date of its source, such as "2024-11-05".
  std::string (*version)();
  const void* code;  // address of any function of the engine

  // Opens the database in options.path, creating it if the directory is empty.
  // Throws Unsupported if the engine cannot honour the options, and any other
  // exception, with a message for the user, if opening fails.
  std::unique_ptr<Database> (*open)(const Options& options);

  // True: offers Session::SetDurable(), as engines do that take the level with
  // each write or can change it while the database is open.
  bool mixes_durability = false;

  // Of engines in other languages.
  bool (*rehearses)() = nullptr;  // not null: compiled just in time, and slow
                                  // until it has run; true: is to be warmed up
  bool hides_barriers = false;  // calls the kernel itself: they are not counted

  // What the program that --stream replays sets for this engine, as words of a
  // command line; empty if it has no such program.
  std::span<const char* const> program_flags = {};
};

extern const Driver kDriver;

}  // namespace kvmatrix

#endif  // COMMON_DRIVER_H_
