// Adapts Journal to kvmatrix.

#include <mutex>

#include "common/driver.h"
#include "journal.h"

namespace kvmatrix {
namespace {

constexpr char kDocument[] = "https://journal.example/durability";

class JournalSession final : public Session {
 public:
  explicit JournalSession(Journal& journal) : journal_(journal) {}

  void Write(std::span<const Update> batch) override {
    const std::lock_guard lock(journal_.mutex);
    for (const auto& [key, value] : batch) {
      value ? journal_.Put(key, *value) : journal_.Delete(key);
    }
    journal_.Commit();
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    const std::shared_lock lock(journal_.mutex);
    const auto found = journal_.entries.find(key);
    if (found == journal_.entries.end()) return std::nullopt;
    return value_ = found->second;
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    const std::shared_lock lock(journal_.mutex);
    const auto& entries = journal_.entries;
    if (order == Order::kForward) {
      auto it = entries.lower_bound(start);
      while (it != entries.end() && visit(it->first, it->second)) ++it;
      return;
    }
    auto it = start.empty() ? entries.end() : entries.upper_bound(start);
    while (it != entries.begin() && (--it, visit(it->first, it->second))) {
    }
  }

 private:
  Journal& journal_;
  std::string value_;
};

class JournalDatabase final : public Database {
 public:
  explicit JournalDatabase(const Options& options)
      : sync_(options.durability == Durability::kDurable),
        journal_(options.path / "journal", sync_) {}

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<JournalSession>(journal_);
  }
  void Flush() override {}
  void Settle() override {}
  void Compact() override {
    throw Unsupported("the journal is never shortened");
  }
  std::map<std::string, std::string> EffectiveSettings() override {
    return {{"sync", sync_ ? "fdatasync" : "none"}};
  }

 private:
  const bool sync_;
  Journal journal_;
};

std::string Version() { return Journal::kVersion; }

std::unique_ptr<Database> Open(const Options& options) {
  if (options.durability == Durability::kConsistent) {
    throw Unsupported("the journal has no checksums");
  }
  return std::make_unique<JournalDatabase>(options);
}

}  // namespace

const Driver kDriver = {
    .name = "journal",
    .licence = "MIT",
    .codec = "",
    .scans = ScanSupport::kBothWays,
    .stores = true,
    .guarantees =
        [] {
          return Guarantees{{{Promise::kMayBeCorrupt, kDocument},
                             {},
                             {Promise::kLosesNothing, kDocument}}};
        },
    .version = Version,
    .code = reinterpret_cast<const void*>(&Version),
    .open = Open};

}  // namespace kvmatrix
