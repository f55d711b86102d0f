// Compares what an engine returns with what was written.
//
// This file and check.cc decide what is a wrong answer; loops only choose the
// question.

#ifndef COMMON_ORACLE_CHECK_H_
#define COMMON_ORACLE_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/driver.h"
#include "common/oracle/oracle.h"
#include "common/stream/keys.h"
#include "common/stream/values.h"

namespace kvmatrix {

// The entry that a get must return.  A value type; Check::ExpectedOf() makes
// it.
struct Expected {
  uint64_t key;
  uint32_t version;  // 0: the key must be absent
  uint64_t root;     // of the value; see Values
};

// Compares every answer of an engine with the oracle, byte by byte, and keeps a
// tally.  A single wrong byte makes the measurement "wrong".
//
//   const Expected expected = check.ExpectedOf(key);
//   check.ExpectValue(expected, session.Get(bytes_of_key));
//   ...
//   if (!check.Reason().empty()) ...     // after the loop
//
// A mismatch is recorded and does not stop the loop; the first one is described
// in Reason(), the others are counted.  No method throws.  Neither a correct
// answer nor a failure after the first allocates memory.
//
// Not thread-safe: each thread has a Check of its own, and Merge() adds them
// up.  Several of them may read one oracle; see Oracle.
class Check {
 public:
  // `oracle` and `values` outlive the check.  `keys` is the shape of all keys
  // of the run.
  Check(const Oracle& oracle, const Values& values, KeyShape keys)
      : oracle_(oracle), values_(values), keys_(keys) {}

  // Returns what a get of the key with index `key` must return at this moment.
  // The key must be absent if it is outside the key space.
  Expected ExpectedOf(uint64_t key) const {
    const uint32_t version = oracle_.Version(key);
    return {key, version, values_.Root(key, version)};
  }

  // Records that a get returned `value`, or found nothing, where `expected` was
  // due.  The caller ensures that the key was not written since `expected` was
  // looked up.
  void ExpectValue(const Expected& expected,
                   const std::optional<std::string_view>& value) {
    if (expected.version != 0 && value) {
      ExpectPresentValue(expected, *value);
    } else if (value.has_value() || expected.version != 0) {
      Mismatch(expected, value);
    }
  }

  // The same for a key that must be present.  Inlined into the loop of a scan,
  // which has a few nanoseconds per entry.
  // REQUIRES: expected.version > 0
  [[gnu::always_inline]] void ExpectPresentValue(const Expected& expected,
                                                 std::string_view value) {
    if (!Matches(expected, value)) [[unlikely]] {
      return Mismatch(expected, value);
    }
    Accept({1, value.size(), Values::Fingerprint(expected.root)});
  }

  // Records that these entries were returned, whose bytes the caller has
  // compared.
  void Accept(const Oracle::Contents& entries) {
    found_ += entries.entries;
    value_bytes_ += entries.value_bytes;
    digest_ += entries.digest;
  }

  // Records that a get of the key with index `key` returned `value` while other
  // threads may have written the key.  `before` and `after` were observed right
  // before and right after the call: every version from the oldest that the
  // call may meet to the newest one begun by its end is accepted.  Nothing is
  // accepted only if `may_be_absent`.  Compares with each of these versions
  // until one matches, newest first.
  void ExpectValueBetween(uint64_t key, const Oracle::Observed& before,
                          const Oracle::Observed& after, bool may_be_absent,
                          const std::optional<std::string_view>& value);

  // Records that a get of a key that was never written returned `value`, which
  // must be nothing.
  void ExpectAbsent(std::string_view key,
                    const std::optional<std::string_view>& value) {
    if (value.has_value()) Fail("a key that was never written is found:", key);
  }

  // Returns the index of a key that a scan visits.  If the bytes are not a key
  // of this run's shape, records a failure and returns nothing.  The index may
  // be outside the key space.
  std::optional<uint64_t> IndexOf(std::string_view key);

  // Records an entry that a scan visits, in any order: the key must be one of
  // this run and have the value of its current version.  Returns the index as
  // IndexOf() does.
  std::optional<uint64_t> VisitEntry(std::string_view key,
                                     std::string_view value);

  // Adds the tally of another thread, once both have ended.  Keeps its own
  // first failure, if it has one.
  void Merge(const Check& other);

  // Records a failure that only the loop can detect, such as a scan out of
  // order.  Reason() is `what`, a space and `key`, of which at most 40 bytes
  // are kept.
  void Fail(std::string_view what, std::string_view key);

  // Entries that were returned correctly, the bytes of their values (without
  // keys) and the sum of their fingerprints, modulo 2^64.  Answers that an
  // entry is rightly absent are not counted.
  uint64_t found() const { return found_; }
  uint64_t value_bytes() const { return value_bytes_; }
  uint64_t digest() const { return digest_; }

  // Returns the first failure and the number of further ones; empty if there
  // was none.
  std::string Reason() const;

  // Returns an index as the 16 digits of a decimal key, for messages.
  static std::string KeyText(uint64_t key);

 private:
  // True if `value` is, in size and in every byte, the expected one.
  bool Matches(const Expected& expected, std::string_view value) const {
    if (!oracle_.HasSizes()) return values_.IsValueOf(expected.root, value);
    const uint64_t size =
        oracle_.SizeOf(expected.key, expected.version, expected.root, values_);
    return values_.IsValueOf(expected.root, size, value);
  }
  // Records a wrong answer.  Only the first one is described: building the text
  // for each of a million failures would take longer than the run.
  void Mismatch(const Expected& expected,
                const std::optional<std::string_view>& value) {
    if (failures_ > 0) {
      ++failures_;
    } else {
      DescribeMismatch(expected, value);
    }
  }
  void DescribeMismatch(const Expected& expected,
                        const std::optional<std::string_view>& value);

  // The same for ExpectValueBetween(): versions `first` to `last` were due.
  void MismatchBetween(uint64_t key, uint32_t first, uint32_t last,
                       const std::optional<std::string_view>& value);

  const Oracle& oracle_;
  const Values& values_;
  const KeyShape keys_;
  uint64_t found_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t failures_ = 0;  // of which only the first is described
  uint64_t digest_ = 0;
  std::string first_failure_;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_CHECK_H_
