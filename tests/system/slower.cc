// An engine that does a tenth more work in one kind of operation: what an A/B
// run must find, and must find nowhere else.
//
// Compiled with kDriver defined as kReference, so that the engine's driver file
// links under that name; kDriver itself is defined here.  SLOWER says which
// operations; kNone is the build to compare with.  With wrapped_plugin.cc the
// engine is a plug-in.

#include <string>
#include <vector>

#include "tests/support/forwarding.h"

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

class SlowerSession final : public ForwardingSession {
 public:
  explicit SlowerSession(std::unique_ptr<Session> inner)
      : ForwardingSession(std::move(inner)), keys_(4096) {}

  // Every tenth batch is written twice: the same entries, so the same content.
  void Write(std::span<const Update> batch) override {
    inner().Write(batch);
    if (IsSlower(kWrites) && ++writes_ % kEvery == 0) inner().Write(batch);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    if (IsSlower(kGets)) GetMore(key);
    return inner().Get(key);
  }

  // A tenth of the entries is visited twice.
  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    uint64_t visited = 0;
    inner().Scan(start, order,
                 [&](std::string_view key, std::string_view value) {
                   ++visited;
                   return visit(key, value);
                 });
    if (!IsSlower(kScans)) return;
    uint64_t again = visited / kEvery;
    inner().Scan(start, order, [&](std::string_view, std::string_view) {
      return again-- > 1;
    });
  }

 private:
  // Before every tenth get, gets an old key, which is no longer in a cache.
  void GetMore(std::string_view key) {
    std::string& old = keys_[++gets_ % keys_.size()];
    if (gets_ % kEvery == 0 && !old.empty()) inner().Get(old);
    old = key;
  }

  std::vector<std::string> keys_;
  uint64_t gets_ = 0;
  uint64_t writes_ = 0;
};

class SlowerDatabase final : public ForwardingDatabase {
 public:
  using ForwardingDatabase::ForwardingDatabase;

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<SlowerSession>(ForwardingDatabase::NewSession());
  }
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
