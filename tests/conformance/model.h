// A driver under test next to a std::map: every change is applied to both, and
// the driver's answers are compared with the map.
//
// What an engine declares that it cannot do is not tested: a test that needs it
// is skipped, with the engine's own reason, which WhyNot functions return.
//
// Failure messages are bounded: values may have megabytes, so of each entry
// that differs the messages show the key, the sizes and the first bytes only.

#ifndef TESTS_CONFORMANCE_MODEL_H_
#define TESTS_CONFORMANCE_MODEL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/driver.h"
#include "common/timing/resources.h"

namespace kvmatrix {

using Entry = std::pair<std::string, std::string>;

// Returns the first bytes of a key or a value as printable text, and its size.
inline std::string Abbreviated(std::string_view bytes) {
  constexpr size_t kShownBytes = 20;
  const std::string start(bytes.substr(0, kShownBytes));
  return testing::PrintToString(start) +
         (bytes.size() > kShownBytes ? "..." : "") + " (" +
         std::to_string(bytes.size()) + " bytes)";
}

// Succeeds if both are equal, and otherwise says at which byte they differ.
inline testing::AssertionResult EqualBytes(std::string_view actual,
                                           std::string_view expected) {
  if (actual == expected) return testing::AssertionSuccess();
  const auto [difference, end] = std::ranges::mismatch(actual, expected);
  return testing::AssertionFailure()
         << Abbreviated(actual) << " instead of " << Abbreviated(expected)
         << ", different from byte " << difference - actual.begin() << " on";
}

// Succeeds if both lists are equal, and otherwise describes the first entries
// that differ.
inline testing::AssertionResult EqualEntries(
    const std::vector<Entry>& actual, const std::vector<Entry>& expected) {
  if (actual == expected) return testing::AssertionSuccess();
  constexpr int kShownEntries = 3;
  testing::AssertionResult failure = testing::AssertionFailure();
  failure << actual.size() << " entries instead of " << expected.size();
  int shown = 0;
  for (size_t i = 0; i < std::max(actual.size(), expected.size()); ++i) {
    const Entry* const is = i < actual.size() ? &actual[i] : nullptr;
    const Entry* const due = i < expected.size() ? &expected[i] : nullptr;
    if (is != nullptr && due != nullptr && *is == *due) continue;
    if (++shown > kShownEntries) break;
    const auto text = [](const Entry* entry) {
      if (entry == nullptr) return std::string("no entry");
      return Abbreviated(entry->first) + " = " + Abbreviated(entry->second);
    };
    failure << "\n  at position " << i << ": " << text(is) << " instead of "
            << text(due);
  }
  return failure;
}

// True if the version starts with a digit and ends with a digit or a letter:
// "1.23" or "5.3.28-rc1", but not ".3.28:".  An engine without versions has the
// date of its source, such as "2024-11-05".
inline bool IsVersion(const std::string& version) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_within = [&](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view(".+~_ -").find(c) != std::string_view::npos;
  };
  return !version.empty() && is_digit(version.front()) &&
         (is_digit(version.back()) || is_letter(version.back())) &&
         std::ranges::all_of(version, is_within);
}

// True if the engine keeps its keys in order; true if it also scans backward.
inline bool IsOrdered() { return kDriver.scans != ScanSupport::kUnordered; }
inline bool ScansBackward() { return kDriver.scans == ScanSupport::kBothWays; }

// Why the engine cannot do what a test needs; nothing: it must be able to.
using WhyNot = std::optional<std::string>;

// Returns what Unsupported says, which users read.
inline std::string ReasonOf(const Unsupported& unsupported) {
  EXPECT_GT(std::strlen(unsupported.what()), 10u);
  return unsupported.what();
}

inline WhyNot WhyNotOf(const Limit& limit, uint64_t size) {
  if (size <= limit.max) return std::nullopt;
  return std::string(kDriver.name) + " accepts at most " +
         std::to_string(limit.max) + ", not " + std::to_string(size) + ": " +
         limit.reason;
}

inline WhyNot WhyNotCompacted(Database& database) {
  try {
    database.Compact();
    return std::nullopt;
  } catch (const Unsupported& unsupported) {
    return ReasonOf(unsupported);
  }
}

// Writes all updates in their order, in batches as large as the engine accepts.
inline void WriteAll(Session& session, const Limits& limits,
                     std::span<const Update> updates) {
  while (!updates.empty()) {
    const size_t size = std::min(updates.size(), limits.batch_size.max);
    session.Write(updates.first(size));
    updates = updates.subspan(size);
  }
}

// True if the engine promises anything for this level.  One that keeps nothing
// accepts each.
inline bool Has(Durability level) {
  return !kDriver.stores ||
         kDriver.guarantees().at(static_cast<size_t>(level)).promise;
}

// A database in a temporary directory, which the destructor removes, with one
// session.
class ModelledDatabase {
 public:
  explicit ModelledDatabase(Options options) : options_(std::move(options)) {
    std::string name = testing::TempDir() + "kvmatrix_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name);
    options_.path = name;
    try {
      Open();
    } catch (...) {
      std::filesystem::remove_all(options_.path);
      throw;
    }
  }
  ~ModelledDatabase() {
    session_.reset();
    database_.reset();
    std::error_code ignored;  // an engine that could not be closed may write
    std::filesystem::remove_all(options_.path, ignored);
  }

  void Open() {
    database_ = kDriver.open(options_);
    session_ = database_->NewSession();
  }
  void Close() {
    session_.reset();
    if (database_) database_->Close();
    database_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  void ReopenWith(Durability level) {
    options_.durability = level;
    Reopen();
  }
  void NewSession() {
    session_.reset();
    session_ = database_->NewSession();
  }

  const Options& options() const { return options_; }
  Database& database() { return *database_; }
  Session& session() { return *session_; }
  Limits limits() { return database_->GetLimits(); }
  const std::map<std::string, std::string>& model() const { return model_; }

  // Returns the space that results report. REQUIRES: the database is closed
  uint64_t DiskBytes() const { return kvmatrix::DiskBytes(options_.path); }

  // In several batches if the engine's are smaller.
  void Write(const std::vector<Update>& batch) {
    WriteAll(*session_, limits(), batch);
    for (const auto& [key, value] : batch) {
      if (value) {
        model_.insert_or_assign(std::string(key), std::string(*value));
      } else {
        model_.erase(std::string(key));
      }
    }
  }
  void Put(std::string_view key, std::string_view value) {
    Write({{key, value}});
  }
  void Delete(std::string_view key) { Write({{key, std::nullopt}}); }

  void ExpectGet(const std::string& key) {
    const std::optional<std::string_view> value = session_->Get(key);
    const auto expected = model_.find(key);
    ASSERT_EQ(value.has_value(), expected != model_.end()) << Abbreviated(key);
    if (value) {
      EXPECT_TRUE(EqualBytes(*value, expected->second)) << Abbreviated(key);
    }
  }

  // Scans at most `limit` entries from `start` on, and compares them.
  void ExpectScan(std::string_view start, Order order,
                  size_t limit = std::numeric_limits<size_t>::max()) {
    std::vector<Entry> entries;
    session_->Scan(start, order,
                   [&](std::string_view key, std::string_view value) {
                     entries.emplace_back(key, value);
                     return entries.size() < limit;
                   });
    if (!IsOrdered()) std::sort(entries.begin(), entries.end());
    EXPECT_TRUE(
        EqualEntries(entries, Expected(std::string(start), order, limit)))
        << "in a scan from " << Abbreviated(start);
  }

  // Compares every entry: key by key, and in whole scans.
  void ExpectEqual() {
    for (const auto& [key, value] : model_) ExpectGet(key);
    ExpectScan("", Order::kForward);
    if (ScansBackward()) ExpectScan("", Order::kBackward);
  }

 private:
  std::vector<Entry> Expected(const std::string& start, Order order,
                              size_t limit) const {
    std::vector<Entry> entries;
    if (order == Order::kForward) {
      entries.assign(model_.lower_bound(start), model_.end());
    } else {
      const auto end = start.empty() ? model_.end() : model_.upper_bound(start);
      entries.assign(std::make_reverse_iterator(end), model_.rend());
    }
    entries.resize(std::min(limit, entries.size()));
    return entries;
  }

  Options options_;
  std::map<std::string, std::string> model_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

// Opens a database as a test would.  Only a level that the engine lacks, or
// several threads, may be refused, and such a level must be.
inline WhyNot WhyNotOpened(const Options& options) {
  const bool has = Has(options.durability);
  try {
    ModelledDatabase db(options);
  } catch (const Unsupported& unsupported) {
    EXPECT_TRUE(!has || options.threads > 1) << "refuses what it promises";
    return ReasonOf(unsupported);
  }
  EXPECT_TRUE(has) << "opens at a level for which it promises nothing";
  return std::nullopt;
}

}  // namespace kvmatrix

#endif  // TESTS_CONFORMANCE_MODEL_H_
