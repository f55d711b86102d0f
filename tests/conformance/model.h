// A driver under test beside a std::map: every change goes to both, and what
// the driver answers is compared with the map.

#ifndef TESTS_CONFORMANCE_MODEL_H_
#define TESTS_CONFORMANCE_MODEL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/driver.h"

namespace kvmatrix {

using Entry = std::pair<std::string, std::string>;

// A database in a directory of its own, which is removed at the end.
class ModelledDatabase {
 public:
  explicit ModelledDatabase(Options options) : options_(std::move(options)) {
    std::string name = testing::TempDir() + "kvmatrix_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name);
    options_.path = name;
    Open();
  }
  ~ModelledDatabase() {
    Close();
    std::filesystem::remove_all(options_.path);
  }

  void Open() {
    database_ = kDriver.open(options_);
    session_ = database_->NewSession();
  }
  void Close() {
    session_.reset();
    database_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  void NewSession() {
    session_.reset();
    session_ = database_->NewSession();
  }

  const Options& options() const { return options_; }
  Database& database() { return *database_; }
  Session& session() { return *session_; }
  const std::map<std::string, std::string>& model() const { return model_; }

  // Bytes of the files of the closed database.
  uint64_t DiskBytes() const {
    uint64_t bytes = 0;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(options_.path)) {
      if (file.is_regular_file()) bytes += file.file_size();
    }
    return bytes;
  }

  void Write(const std::vector<Update>& batch) {
    session_->Write(batch);
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
    const std::optional<std::string_view> found = session_->Get(key);
    const auto expected = model_.find(key);
    ASSERT_EQ(found.has_value(), expected != model_.end())
        << testing::PrintToString(key);
    if (found) {
      EXPECT_EQ(*found, expected->second);
    }
  }

  // Compares at most `limit` entries from `start` on.
  void ExpectScan(std::string_view start, Order order,
                  size_t limit = std::numeric_limits<size_t>::max()) {
    std::vector<Entry> found;
    session_->Scan(start, order,
                   [&](std::string_view key, std::string_view value) {
                     found.emplace_back(key, value);
                     return found.size() < limit;
                   });
    if (!kDriver.ordered) std::sort(found.begin(), found.end());
    EXPECT_EQ(found, Expected(std::string(start), order, limit));
  }

  // Compares all that can be asked for, key by key and in whole scans.
  void ExpectEqual() {
    for (const auto& [key, value] : model_) ExpectGet(key);
    ExpectScan("", Order::kForward);
    if (kDriver.ordered) ExpectScan("", Order::kBackward);
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

}  // namespace kvmatrix

#endif  // TESTS_CONFORMANCE_MODEL_H_
