// A driver around the memory driver whose behaviour a test changes.

#ifndef TESTS_RUNNER_WRAPPED_DRIVER_H_
#define TESTS_RUNNER_WRAPPED_DRIVER_H_

#include <functional>
#include <memory>

#include "tests/support/forwarding.h"

namespace kvmatrix {

// Functions that replace calls of the wrapped driver; empty: passed on.
struct Behaviour {
  using Write = std::function<void(Session&, std::span<const Update>)>;
  using Get = std::function<std::optional<std::string_view>(Session&,
                                                            std::string_view)>;
  using Scan =
      std::function<void(Session&, std::string_view, Order, const Visitor&)>;
  using Event = std::function<void()>;
  using LastWords = std::function<void(Database&)>;

  Write write;
  Get get;
  Scan scan;
  Event open, flush, settle, compact, close, count;
  Event end;  // of a session
  Limits limits;
  LastWords last_words;  // before `close`, to the database that is closed
  bool relaxed = false;  // opens without the durability that is asked
};

// The memory driver with this behaviour; `scans` as in Driver.  Only one may
// exist at a time.
Driver Wrapped(Behaviour behaviour, ScanSupport scans = ScanSupport::kBothWays);

namespace internal {

inline Behaviour current;

inline void Happen(const Behaviour::Event& event) {
  if (event) event();
}

class WrappedSession final : public ForwardingSession {
 public:
  using ForwardingSession::ForwardingSession;
  ~WrappedSession() override;

  void Write(std::span<const Update> batch) override {
    current.write ? current.write(inner(), batch) : inner().Write(batch);
  }
  std::optional<std::string_view> Get(std::string_view key) override {
    return current.get ? current.get(inner(), key) : inner().Get(key);
  }
  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    current.scan ? current.scan(inner(), start, order, visit)
                 : inner().Scan(start, order, visit);
  }
};

inline WrappedSession::~WrappedSession() { Happen(current.end); }

class WrappedDatabase : public ForwardingDatabase {
 public:
  explicit WrappedDatabase(std::unique_ptr<Database> inner)
      : ForwardingDatabase(std::move(inner)) {
    Happen(current.open);
  }
  ~WrappedDatabase() override {
    if (current.last_words) current.last_words(inner());
    Happen(current.close);
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<WrappedSession>(ForwardingDatabase::NewSession());
  }
  Limits GetLimits() override { return current.limits; }
  void Flush() override { Happen(current.flush); }
  void Settle() override { Happen(current.settle); }
  void Compact() override { Happen(current.compact); }
  std::map<std::string, uint64_t> Counters() override {
    Happen(current.count);
    return inner().Counters();
  }
};

}  // namespace internal

inline Driver Wrapped(Behaviour behaviour, ScanSupport scans) {
  internal::current = std::move(behaviour);
  Driver driver = kDriver;
  driver.scans = scans;
  driver.open = [](const Options& options) -> std::unique_ptr<Database> {
    Options honoured = options;
    if (internal::current.relaxed) honoured.durability = Durability::kBuffered;
    return std::make_unique<internal::WrappedDatabase>(kDriver.open(honoured));
  };
  return driver;
}

}  // namespace kvmatrix

#endif  // TESTS_RUNNER_WRAPPED_DRIVER_H_
