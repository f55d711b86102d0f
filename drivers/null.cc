// null: does nothing.  Its results are the cost of the harness itself.

#include "common/driver.h"

#ifndef NULL_NAME
#define NULL_NAME "null"  // another if it is loaded as a plug-in
#endif

namespace kvmatrix {
namespace {

class NullSession final : public Session {
 public:
  explicit NullSession(const Options& options)
      : entries_(options.expected_entries),
        key_(options.key_size, '0'),
        value_(options.value_size, '\0') {}

  void Write(std::span<const Update>) override {}

  std::optional<std::string_view> Get(std::string_view) override {
    return value_;
  }

  // Visits the same entry as often as a filled database has entries.
  void Scan(std::string_view, Order, const Visitor& visit) override {
    for (uint64_t i = 0; i < entries_ && visit(key_, value_); ++i) continue;
  }

 private:
  const uint64_t entries_;
  const std::string key_;
  const std::string value_;
};

class Null final : public Database {
 public:
  explicit Null(const Options& options) : options_(options) {}

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<NullSession>(options_);
  }
  void Flush() override {}
  void Settle() override {}
  void Compact() override {}
  std::map<std::string, std::string> EffectiveSettings() override {
    return {{"stores", "nothing"}};
  }

 private:
  const Options options_;
};

std::string Version() { return "1"; }

}  // namespace

const Driver kDriver = {
    .name = NULL_NAME,
    .licence = "Apache-2.0",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = false,
    .guarantees = [] { return Guarantees{}; },
    .version = Version,
    .code = reinterpret_cast<const void*>(&Version),
    .open = [](const Options& options) -> std::unique_ptr<Database> {
      return std::make_unique<Null>(options);
    }};

}  // namespace kvmatrix
