// The contract between the harness and one storage engine.
//
// A driver is one file in drivers/ that defines kDriver; each db_bench_<engine>
// executable links exactly one.  A driver translates calls and nothing else: it
// never reads the clock, prints, loops over operations, retries, or emulates
// what its engine lacks.  Settings that only one engine has are gflags defined
// in its own driver file, under the names db_bench gives them.
//
// Any exception other than Unsupported means that the engine failed: the
// measurement becomes "error" and carries no time.

#ifndef COMMON_DRIVER_H_
#define COMMON_DRIVER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvmatrix {

// Thrown when an engine cannot do what is asked.  The measurement becomes
// "unsupported" with what() as its reason.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What every engine is asked for.  cache_size and compression are permissions:
// an engine without a cache or a codec ignores them.  sync is a guarantee: it
// is honoured, or Unsupported is thrown.
struct Options {
  std::filesystem::path path;     // an existing directory: empty, or a database
  uint64_t cache_size;            // bytes the engine may use to cache entries
  bool compression;               // compress entries if the engine has a codec
  bool sync;                      // Write() returns once the batch is durable
  uint64_t threads = 1;           // sessions that will be used at once
  uint64_t expected_entries = 0;  // a hint: of the filled database; 0: unknown

  bool operator==(const Options&) const = default;
};

// One put, or a delete when there is no value.
struct Update {
  std::string_view key;
  std::optional<std::string_view> value;
};

enum class Order { kForward, kBackward };

// Receives one entry of a scan; the views are valid during the call.  Returns
// false to stop the scan.
using Visitor =
    std::function<bool(std::string_view key, std::string_view value)>;

// One thread's handle on a Database: made, used and destroyed on that thread,
// beside the sessions of other threads.  A Write() is seen by every Get() and
// Scan() that begins after it has returned, on any session.  A driver may wait
// for another session as long as its engine's own documentation advises; waits
// that it counts are Database::Counters().
class Session {
 public:
  virtual ~Session() = default;

  // Applies the whole batch, atomically if it holds more than one update.
  // Deleting an absent key succeeds.  REQUIRES: batch is not empty.
  virtual void Write(std::span<const Update> batch) = 0;

  // Returns the value of `key`, or nothing if the key is absent.  The view is
  // valid until the next call on this session.
  virtual std::optional<std::string_view> Get(std::string_view key) = 0;

  // Visits entries in bytewise key order: kForward from the first key at or
  // past `start`, kBackward from the last key at or before it.  An empty
  // `start` means the first or the last entry.  A driver that is not `ordered`
  // visits every entry once, in an order of its own; the harness then asks for
  // kForward and an empty start only.
  virtual void Scan(std::string_view start, Order order,
                    const Visitor& visit) = 0;
};

// An open database.  Destruction closes it.
class Database {
 public:
  virtual ~Database() = default;

  // Thread-safe: several threads call it at once, each for itself.  All else is
  // called when no session is in use.
  virtual std::unique_ptr<Session> NewSession() = 0;

  // Hands everything written so far to the operating system, so that it
  // survives the end of this process.  Need not reach the disk.
  virtual void Flush() = 0;

  // Returns once no deferred work is left: compactions done, log checkpointed.
  virtual void Settle() = 0;

  // Reorganises the whole database, as CompactRange(begin, end) does; throws
  // Unsupported if the engine cannot do that while the database is open.
  virtual void Compact() = 0;

  // The settings in force, read back from the engine: name to value.  A value
  // that the engine cannot report is followed by " (as requested)".
  virtual std::map<std::string, std::string> EffectiveSettings() = 0;

  // What the driver counted while its sessions waited for one another, such as
  // how often the engine said that it was busy.  Empty: it counts nothing.
  virtual std::map<std::string, uint64_t> Counters() { return {}; }
};

// Work that an engine's library also does on a block of bytes that is in no
// database: its checksum or its codec.
struct Primitive {
  std::string_view name;  // of the benchmark
  // Does it to `input`; what comes of it replaces `output`.
  void (*run)(std::string_view input, std::string& output);
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

  // What it offers beside a store; null: nothing.
  std::span<const Primitive> (*primitives)() = nullptr;
};

extern const Driver kDriver;

}  // namespace kvmatrix

#endif  // COMMON_DRIVER_H_
