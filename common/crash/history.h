// What each commit of a crash test writes, and which states of the history fit
// what is found in a database.
//
// Commit n is a function of the seed, n, the number of its updates and the size
// of its values.  So the history is rebuilt from the trace alone, and each
// value ever written is known to the byte; no two are equal.

#ifndef COMMON_CRASH_HISTORY_H_
#define COMMON_CRASH_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvmatrix {

inline constexpr uint32_t kCrashValueBytes = 100;
// Keys of the history; small, so that entries are overwritten and deleted.
inline constexpr uint64_t kCrashKeys = 1000;
// How the keys begin that an audit writes; no key of the history does.
inline constexpr std::string_view kProbePrefix = "probe";

// One update of a commit: a put, or a delete of a key that was there.
struct Change {
  uint64_t key;    // 0 to kCrashKeys - 1
  uint32_t index;  // in the commit
  bool is_put;
};

// What a commit does to a key: the last one of its changes of it.
struct Version {
  uint64_t commit;
  uint32_t index;
  uint32_t value_bytes;
  bool is_put;
  bool is_last;  // in its commit; others are overwritten within it
};

// Returns the 16 bytes of a key.
std::string CrashKey(uint64_t key);

// Returns the value of a put.  REQUIRES: bytes >= 16
std::string CrashValue(uint64_t seed, uint64_t commit, uint32_t index,
                       uint32_t bytes);

// What was found under one key of a history.
struct Found {
  bool is_foreign = false;           // never written under this key
  const Version* version = nullptr;  // which put; null: absent, or foreign
};

// Which state of a history a database is in.
struct Fit {
  std::optional<uint64_t> prefix;  // the last commit after which all keys are
                                   // as found; nothing if there is none
  uint64_t nearest = 0;  // the last commit after which most keys are as found
  uint64_t misfits = 0;  // keys that are not as after `nearest`
};

// All commits up to one, in order.
class History {
 public:
  explicit History(uint64_t seed) : seed_(seed) {}

  // Adds the next commit and returns its changes.  Values that are longer than
  // kCrashValueBytes are always put; of the others, one in eight is a delete
  // if its key is there.
  std::vector<Change> Add(uint32_t updates, uint32_t value_bytes);

  uint64_t seed() const { return seed_; }
  uint64_t commits() const { return sizes_.size(); }

  // Returns the number of updates of a commit.  REQUIRES: 1 <= commit <=
  // commits()
  uint32_t updates(uint64_t commit) const { return sizes_.at(commit - 1); }

  // Returns what was done to each key that was ever written, oldest first.
  const std::map<uint64_t, std::vector<Version>>& versions() const {
    return versions_;
  }

  // Returns the version of a key after commit n; null: absent from the start.
  const Version* At(uint64_t key, uint64_t commit) const;

  // Returns the entries after commit n.
  uint64_t Entries(uint64_t commit) const;

  // Identifies what was found under a key of versions(); nothing: absent.
  Found Identify(uint64_t key, std::optional<std::string_view> value) const;

  // Returns the last commit that can have left a key as found; 0: none has.
  uint64_t Newest(uint64_t key, const Found& found) const;

  // Returns the state in which all keys are as found.
  // REQUIRES: `found` has each key of versions()
  Fit FitOf(const std::map<uint64_t, Found>& found) const;

 private:
  const uint64_t seed_;
  std::vector<uint32_t> sizes_;
  std::map<uint64_t, std::vector<Version>> versions_;
};

}  // namespace kvmatrix

#endif  // COMMON_CRASH_HISTORY_H_
