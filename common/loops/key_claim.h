// The exclusive right of a thread to write one key.

#ifndef COMMON_LOOPS_KEY_CLAIM_H_
#define COMMON_LOOPS_KEY_CLAIM_H_

#include <cstdint>
#include <optional>

#include "common/loops/run_context.h"

namespace kvmatrix {

// No other thread writes the key as long as this object exists.
//
// The oracle must know in which order the writes of a key reached the engine.
// The claim makes them one after another, at the price that two threads never
// write the same key at the same moment.  The destructor publishes the
// write even if it failed, because another thread would otherwise wait for the
// key forever.  The oracle is then wrong about the key, which is harmless,
// since the measurement has failed.
class KeyClaim {
 public:
  // Waits until no other thread has claimed `key`, and claims it for a put, or
  // for a delete.
  // REQUIRES: w.oracle.UseTable() was called; this thread has claimed no key
  KeyClaim(const ThreadContext& w, uint64_t key, bool deletes = false)
      : oracle_(w.oracle), key_(key), deletes_(deletes) {
    std::optional<uint32_t> version = oracle_.TryClaim(key);
    if (!version) {
      const uint64_t start_ns = w.clock.NowNs();
      while (!version) {
        oracle_.AwaitRelease(key);
        version = oracle_.TryClaim(key);
      }
      waited_ns_ = w.clock.NowNs() - start_ns;
    }
    version_ = *version;
  }
  ~KeyClaim() {
    oracle_.Publish(key_, deletes_ ? version_ - 1 : version_, deletes_);
  }
  KeyClaim(const KeyClaim&) = delete;
  KeyClaim& operator=(const KeyClaim&) = delete;

  uint32_t version() const { return version_; }      // that a put gives the key
  uint64_t waited_ns() const { return waited_ns_; }  // for other threads

 private:
  Oracle& oracle_;
  const uint64_t key_;
  const bool deletes_;
  uint32_t version_ = 0;
  uint64_t waited_ns_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_KEY_CLAIM_H_
