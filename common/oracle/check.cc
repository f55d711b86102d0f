#include "common/oracle/check.h"

#include <algorithm>

namespace kvmatrix {

std::optional<uint64_t> Check::IndexOf(std::string_view key) {
  const std::optional<uint64_t> index = ParseKey(key, keys_);
  if (!index) Fail("a scan visits a key that was never written:", key);
  return index;
}

std::optional<uint64_t> Check::VisitEntry(std::string_view key,
                                          std::string_view value) {
  const std::optional<uint64_t> index = IndexOf(key);
  if (index) ExpectValue(ExpectedOf(*index), value);
  return index;
}

void Check::ExpectValueBetween(uint64_t key, const Oracle::Observed& before,
                               const Oracle::Observed& after,
                               bool may_be_absent,
                               const std::optional<std::string_view>& value) {
  const uint32_t first = before.oldest;
  uint32_t last = std::max(before.newest, after.newest);
  // A key that was put and deleted again has versions that `newest` leaves out.
  if (may_be_absent) last = std::max(last, after.oldest - 1);
  if (!value) {
    if (!may_be_absent) MismatchBetween(key, first, last, value);
    return;
  }
  for (uint32_t version = last; version >= first; --version) {
    const uint64_t root = values_.Root(key, version);
    if (!Matches({key, version, root}, *value)) continue;
    return Accept({1, value->size(), Values::Fingerprint(root)});
  }
  MismatchBetween(key, first, last, value);
}

// Searches the thousand versions on either side of the accepted range for the
// one that the engine returned, because "an old value" and "a value of the
// future" have different causes: a lost write, or a read of an uncommitted one.
void Check::MismatchBetween(uint64_t key, uint32_t first, uint32_t last,
                            const std::optional<std::string_view>& value) {
  constexpr uint32_t kAround = 1000;
  if (failures_ > 0 || !value) {
    Mismatch({key, first, 0}, value);
    return;
  }
  if (last < first)
    return Fail("a key that must be absent is found:", KeyText(key));
  const std::string due = "where versions " + std::to_string(first) + " to " +
                          std::to_string(last) + " were due, of key";
  uint32_t version = last > kAround ? last - kAround : 1;
  for (; version <= last + kAround; ++version) {
    const Expected other{key, version, values_.Root(key, version)};
    if (!Matches(other, *value)) continue;
    const std::string text = "version " + std::to_string(version) + " is read ";
    Fail((version < first ? "an old value: " : "a future value: ") + text + due,
         KeyText(key));
    return;
  }
  Fail("a value that was never written is read " + due, KeyText(key));
}

void Check::Merge(const Check& other) {
  if (failures_ == 0) first_failure_ = other.first_failure_;
  found_ += other.found_;
  failures_ += other.failures_;
  value_bytes_ += other.value_bytes_;
  digest_ += other.digest_;
}

void Check::Fail(std::string_view what, std::string_view key) {
  if (failures_++ > 0) return;
  first_failure_ = std::string(what) + " " + std::string(key.substr(0, 40));
}

void Check::DescribeMismatch(const Expected& expected,
                             const std::optional<std::string_view>& value) {
  const auto [key, version, root] = expected;
  const size_t size = oracle_.SizeOf(key, version, root, values_);
  if (!value) {
    Fail("a key that was written is not found:", KeyText(key));
  } else if (version == 0) {
    Fail("a key that must be absent is found:", KeyText(key));
  } else if (value->size() != size) {
    Fail("a value of " + std::to_string(value->size()) + " bytes instead of " +
             std::to_string(size) + " at key",
         KeyText(key));
  } else {
    Fail("a value differs from version " + std::to_string(version) + " of key",
         KeyText(key));
  }
}

std::string Check::Reason() const {
  if (failures_ <= 1) return first_failure_;
  const uint64_t more = failures_ - 1;
  return first_failure_ + " (and " + std::to_string(more) + " more failure" +
         (more == 1 ? ")" : "s)");
}

std::string Check::KeyText(uint64_t key) {
  KeyBuffer buffer(kKeyDigits);
  return std::string(buffer.Set(key));
}

}  // namespace kvmatrix
