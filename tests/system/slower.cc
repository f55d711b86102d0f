// An engine that does a tenth more work in one kind of operation: what an A/B
// run must find, and must find nowhere else.
//
// Compiled with kDriver defined as kReference, so that the engine's driver file
// links under that name; kDriver itself is defined here.  SLOWER says which
// operations; kNone is the build to compare with.  With wrapped_plugin.cc the
// engine is a plug-in.

#include <string>
#include <vector>

#include "common/driver.h"

#undef kDriver

namespace kvmatrix {

extern const Driver kDriver;

namespace {

constexpr uint64_t kEvery = 10;

// The only word in which the builds differ.  Code and data have the same
// addresses in all of them, because a difference of addresses alone can cost a
// few per cent.  Volatile, so that the compiler cannot use the value.
enum Operation { kNone = 0, kGets = 1, kWrites = 2, kScans = 4, kAll = 7 };
const volatile Operation slower = SLOWER;

bool IsSlower(Operation operation) { return (slower & operation) != 0; }

class SlowerSession final : public Session {
 public:
  explicit SlowerSession(std::unique_ptr<Session> inner)
      : inner_(std::move(inner)), keys_(4096) {}

  // Every tenth batch is written twice: the same entries, so the same content.
  void Write(std::span<const Update> batch) override {
    inner_->Write(batch);
    if (IsSlower(kWrites) && ++writes_ % kEvery == 0) inner_->Write(batch);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    if (IsSlower(kGets)) GetMore(key);
    return inner_->Get(key);
  }

  void GetBlock(std::span<const std::string_view> keys,
                std::span<std::optional<std::string_view>> values) override {
    if (IsSlower(kGets)) {
      for (const std::string_view key : keys) GetMore(key);
    }
    inner_->GetBlock(keys, values);
  }

  // A tenth of the entries is visited twice.
  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    uint64_t visited = 0;
    inner_->Scan(start, order,
                 [&](std::string_view key, std::string_view value) {
                   ++visited;
                   return visit(key, value);
                 });
    if (!IsSlower(kScans)) return;
    uint64_t again = visited / kEvery;
    inner_->Scan(start, order, [&](std::string_view, std::string_view) {
      return again-- > 1;
    });
  }

 private:
  // Before every tenth get, gets an old key, which is no longer in a cache.
  void GetMore(std::string_view key) {
    std::string& old = keys_[++gets_ % keys_.size()];
    if (gets_ % kEvery == 0 && !old.empty()) inner_->Get(old);
    old = key;
  }

  std::unique_ptr<Session> inner_;
  std::vector<std::string> keys_;
  uint64_t gets_ = 0;
  uint64_t writes_ = 0;
};

class SlowerDatabase final : public Database {
 public:
  explicit SlowerDatabase(std::unique_ptr<Database> inner)
      : inner_(std::move(inner)) {}

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<SlowerSession>(inner_->NewSession());
  }
  Limits GetLimits() override { return inner_->GetLimits(); }
  void Flush() override { inner_->Flush(); }
  void Settle() override { inner_->Settle(); }
  void Compact() override { inner_->Compact(); }
  std::map<std::string, std::string> EffectiveSettings() override {
    return inner_->EffectiveSettings();
  }
  std::map<std::string, uint64_t> Counters() override {
    return inner_->Counters();
  }
  void Close() override { inner_->Close(); }

 private:
  std::unique_ptr<Database> inner_;
};

std::unique_ptr<Database> Open(const Options& options) {
  return std::make_unique<SlowerDatabase>(kReference.open(options));
}

Driver Slower() {
  Driver driver = kReference;
  driver.open = Open;
  return driver;
}

}  // namespace

const Driver kDriver = Slower();

}  // namespace kvmatrix
