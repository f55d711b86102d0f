// limited: the reference with each limit that a driver may declare: no batches,
// scans forward only, keys of at most 511 bytes, one level of durability, no
// Compact().  The conformance suite runs on it, to test what the suite accepts.
// It answers what it cannot do with an error, so that a test that tries fails.
//
// KVMATRIX_LIMITED selects one deviation.  All but "one-session" break what is
// declared, and the suite must notice.  The driver `defective` has one always.

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "tests/runner/wrapped_driver.h"

#undef kDriver

namespace kvmatrix {
namespace {

constexpr uint64_t kMaxKeyBytes = 511;

bool Deviates(std::string_view deviation) {
  const char* const chosen = std::getenv("KVMATRIX_LIMITED");
  return deviation == (chosen == nullptr ? LIMITED_DEVIATION : chosen);
}

void Write(Session& session, std::span<const Update> batch) {
  const uint64_t most = Deviates("short-keys") ? 500 : kMaxKeyBytes;
  for (const Update& update : batch) {
    if (update.key.size() > most) throw std::runtime_error("a key is too long");
  }
  if (batch.size() > 1) throw Unsupported("this engine writes no batches");
  session.Write(batch);
}

void Scan(Session& session, std::string_view start, Order order,
          const Visitor& visit) {
  if (order == Order::kBackward) throw std::runtime_error("scans forward only");
  session.Scan(start, order, visit);
}

void Compact() {
  if (Deviates("failing-compact")) throw std::runtime_error("cannot compact");
  throw Unsupported("this engine has no call that compacts");
}

Behaviour Limited() {
  Behaviour limited;
  limited.write = Write;
  limited.scan = Scan;
  limited.compact = Compact;
  limited.limits = {.key_size = {kMaxKeyBytes, "as in LMDB"},
                    .batch_size = {1, "this engine writes no batches"}};
  if (Deviates("claims-batches")) limited.limits.batch_size = {};
  limited.relaxed = true;  // Open() decides
  return limited;
}

std::unique_ptr<Database> Open(const Options& options) {
  static const Driver wrapped = Wrapped(Limited());
  if (options.threads > 1 && Deviates("one-session"))
    throw Unsupported("this engine has one session");
  if (options.durability != Durability::kBuffered) {
    if (Deviates("fails-to-open-durable")) throw std::runtime_error("no level");
    if (!Deviates("opens-durable"))
      throw Unsupported("this engine has no call that synchronises");
  }
  return wrapped.open(options);
}

Guarantees Promises() {
  const Guarantee buffered = kReference.guarantees().front();
  Guarantees promises = {buffered};
  if (Deviates("claims-durable"))
    promises.back() = kReference.guarantees().back();
  return promises;
}

std::string Version() { return Deviates("odd-version") ? ".3.28:" : "1"; }

}  // namespace

extern const Driver kDriver;
const Driver kDriver = {.name = LIMITED_NAME,
                        .licence = "Apache-2.0",
                        .codec = "",
                        .scans = Deviates("claims-both-ways")
                                     ? ScanSupport::kBothWays
                                     : ScanSupport::kForward,
                        .stores = true,
                        .guarantees = Promises,
                        .version = Version,
                        .code = reinterpret_cast<const void*>(&Version),
                        .open = Open};

}  // namespace kvmatrix
