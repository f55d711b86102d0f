// null: does nothing.  What its figures show is the cost of the harness.

#include <gflags/gflags.h>

#include "common/driver.h"

namespace kvmatrix {
namespace {

uint64_t FlagOf(const char* name) {
  return std::stoull(gflags::GetCommandLineFlagInfoOrDie(name).current_value);
}

class NullSession final : public Session {
 public:
  void Write(std::span<const Update>) override {}

  std::optional<std::string_view> Get(std::string_view) override {
    return value_;
  }

  // The same entry --num times, or until the visitor has enough.
  void Scan(std::string_view, Order, const Visitor& visit) override {
    for (uint64_t i = 0; i < num_ && visit(key_, value_); ++i) continue;
  }

 private:
  const uint64_t num_ = FlagOf("num");
  const std::string key_ = std::string(FlagOf("key_size"), '0');
  const std::string value_ = std::string(FlagOf("value_size"), '\0');
};

class Null final : public Database {
 public:
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<NullSession>();
  }
  void Flush() override {}
  void Settle() override {}
  void Compact() override {}
  std::map<std::string, std::string> EffectiveSettings() override {
    return {{"stores", "nothing"}};
  }
};

std::string Version() { return "1"; }

}  // namespace

const Driver kDriver = {
    .name = "null",
    .licence = "Apache-2.0",
    .codec = "",
    .ordered = true,
    .stores = false,
    .version = Version,
    .code = reinterpret_cast<const void*>(&Version),
    .open = [](const Options&) -> std::unique_ptr<Database> {
      return std::make_unique<Null>();
    }};

}  // namespace kvmatrix
