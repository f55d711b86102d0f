// Compares what an engine returns with what was written.

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

// The entry that a get must find.
struct Expected {
  uint64_t key;
  uint32_t version;  // 0: there is none
  uint64_t root;     // of its value; see Values
};

// Judges every entry an engine returns against the oracle and keeps the tally.
// One wrong byte makes the measurement wrong.
class Check {
 public:
  // `oracle` and `values` outlive the check and do not change meanwhile.
  Check(const Oracle& oracle, const Values& values, KeyShape keys)
      : oracle_(oracle), values_(values), keys_(keys) {}

  // What a get of the key with this index must return.
  Expected ExpectedOf(uint64_t key) const {
    const uint32_t version = oracle_.Version(key);
    return {key, version, values_.Root(key, version)};
  }

  // The engine answered `value` to a get of that key.
  void ExpectValue(const Expected& expected,
                   const std::optional<std::string_view>& value) {
    if (expected.version != 0 && value) {
      ExpectPresentValue(expected, *value);
    } else if (value.has_value() || expected.version != 0) {
      Mismatch(expected, value);
    }
  }

  // The same of a key that is present.  Inline wherever it is called: a scan
  // has little time for an entry.
  [[gnu::always_inline]] void ExpectPresentValue(const Expected& expected,
                                                 std::string_view value) {
    if (!Matches(expected, value)) [[unlikely]] {
      return Mismatch(expected, value);
    }
    ++found_;
    value_bytes_ += value.size();
    digest_ += Values::Fingerprint(expected.root);
  }

  // The engine answered `value` to a get of the key with this index, beside
  // threads that write: what was observed of the key before the get, and after
  // it.
  void ExpectValueBetween(uint64_t key, const Oracle::Observed& before,
                          const Oracle::Observed& after,
                          const std::optional<std::string_view>& value);

  // The engine answered `value` to a get of a key that was never written.
  void ExpectAbsent(std::string_view key,
                    const std::optional<std::string_view>& value) {
    if (value.has_value()) Fail("a key that was never written is found:", key);
  }

  // The index of that key; if it is no key of ours, the tally has it and the
  // result is nothing.
  std::optional<uint64_t> IndexOf(std::string_view key);

  // A scan visits an entry.  Returns the index of its key; if that is no key
  // of ours, the tally has it and the result is nothing.
  std::optional<uint64_t> VisitEntry(std::string_view key,
                                     std::string_view value);

  // Adds the tally of another thread.
  void Merge(const Check& other);

  // Records a failure that only the benchmark can see.
  void Fail(std::string_view what, std::string_view key);

  uint64_t found() const { return found_; }
  uint64_t value_bytes() const { return value_bytes_; }  // of those found
  uint64_t digest() const { return digest_; }

  // What went wrong first, and how often something did; empty if nothing did.
  std::string Reason() const;

  static std::string KeyText(uint64_t key);

 private:
  bool Matches(const Expected& expected, std::string_view value) const {
    if (!oracle_.HasSizes()) return values_.IsValueOf(expected.root, value);
    const uint64_t size =
        oracle_.SizeOf(expected.key, expected.version, expected.root, values_);
    return values_.IsValueOf(expected.root, size, value);
  }
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

  void MismatchBetween(uint64_t key, uint32_t first, uint32_t last,
                       const std::optional<std::string_view>& value);

  const Oracle& oracle_;
  const Values& values_;
  const KeyShape keys_;
  uint64_t found_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t failures_ = 0;
  uint64_t digest_ = 0;
  std::string first_failure_;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_CHECK_H_
