// Batches of updates to keys that several threads may write at once.

#ifndef COMMON_ORACLE_CLAIMED_UPDATES_H_
#define COMMON_ORACLE_CLAIMED_UPDATES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/driver.h"
#include "common/oracle/oracle.h"
#include "common/stream/keys.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Builds one batch at a time, in three steps: Claim() locks its keys in the
// oracle and generates the updates, the caller passes them to the engine, and
// Publish() records them and unlocks the keys:
//
//   session.Write(updates.Claim(keys));
//   updates.Publish();
//
// The oracle must know in which order the writes of a key reached the engine.
// The claim makes them one after another, at the price that two threads never
// write the same key at the same moment.  The destructor publishes what is
// still claimed (after an exception), because another thread would otherwise
// wait for it forever.  The oracle is then wrong about these keys, which is
// harmless, since the measurement has failed.
//
// The constructor allocates the memory of a largest batch; nothing in the loop
// allocates once a full batch has been claimed.
//
// Not thread-safe: each thread has its own, on a common oracle.
class ClaimedUpdates {
 public:
  // For batches of at most `batch_size` updates, which delete their keys if
  // `deletes` and put values otherwise.  `oracle` and `values` outlive this
  // object.
  // REQUIRES: oracle.UseTable() was called
  ClaimedUpdates(Oracle& oracle, const Values& values, KeyShape keys,
                 size_t batch_size, bool deletes)
      : oracle_(oracle),
        values_(values),
        writer_(keys),
        deletes_(deletes),
        value_stride_(deletes ? 0 : values.buffer_size()),
        keys_(batch_size * keys.size(), keys.pad()),
        bytes_(batch_size * value_stride_),
        updates_(batch_size) {
    for (size_t i = 0; i < batch_size; ++i) {
      updates_[i].key = {keys_.data() + i * keys.size(), keys.size()};
    }
  }

  // Releases what is still claimed.
  ~ClaimedUpdates() { Publish(); }
  // A copy would release the claims of the original.
  ClaimedUpdates(const ClaimedUpdates&) = delete;
  ClaimedUpdates& operator=(const ClaimedUpdates&) = delete;

  // Claims `keys`, which may contain duplicates, and returns the updates that
  // put or delete them, one for each element of `keys` and in that order, valid
  // until the next Claim().  Waits while another thread has claimed one of
  // them.  The keys are claimed in ascending order, so that threads that wait
  // for each other cannot form a cycle.
  //
  // Every put has a version of its own: a key that occurs twice in `keys` is
  // put twice, and its last value is the one that remains.
  // REQUIRES: the previous batch is published; keys.size() <= batch_size; each
  // key is below oracle.key_space()
  std::span<const Update> Claim(std::span<const uint64_t> keys) {
    claimed_.clear();
    for (const uint64_t key : keys) claimed_.push_back({key, 0});
    std::ranges::sort(claimed_, {}, &Claimed::key);
    // Not std::ranges::unique(), which Clang 14 cannot compile.
    claimed_.erase(std::unique(claimed_.begin(), claimed_.end(),
                               [](const Claimed& a, const Claimed& b) {
                                 return a.key == b.key;
                               }),
                   claimed_.end());
    for (Claimed& claimed : claimed_) {
      claimed.puts = oracle_.Claim(claimed.key) - 1;
    }
    for (size_t i = 0; i < keys.size(); ++i) Make(i, keys[i]);
    return std::span(updates_).first(keys.size());
  }

  // The batch has been written: records it and releases its keys.  Other
  // threads may then write them and expect the new versions.  Does nothing if
  // no batch is claimed.
  void Publish() {
    for (const Claimed& claimed : claimed_) {
      oracle_.Publish(claimed.key, claimed.puts, deletes_);
    }
    claimed_.clear();
  }

  // Returns the bytes of all values generated so far, including those of a
  // batch that has not been written.
  uint64_t value_bytes() const { return value_bytes_; }

 private:
  struct Claimed {
    uint64_t key;
    uint32_t puts;  // of the key, in all, once the batch is written
  };

  // Generates update i of the batch.  A key that occurs twice gets two
  // versions.
  void Make(size_t i, uint64_t key) {
    writer_.Write(key, keys_.data() + i * writer_.shape().size());
    if (deletes_) return;
    const auto claimed =
        std::ranges::lower_bound(claimed_, key, {}, &Claimed::key);
    char* const value = bytes_.data() + i * value_stride_;
    const size_t size = values_.Write(key, ++claimed->puts, value);
    updates_[i].value = {value, size};
    value_bytes_ += size;
  }

  Oracle& oracle_;
  const Values& values_;
  const KeyWriter writer_;
  const bool deletes_;
  const size_t value_stride_;  // bytes from value to value; 0 for deletes
  std::vector<char> keys_;     // bytes of the keys, back to back
  std::vector<char> bytes_;    // of the values
  std::vector<Update> updates_;
  std::vector<Claimed> claimed_;  // sorted by key, without duplicates
  uint64_t value_bytes_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_CLAIMED_UPDATES_H_
