// What a database must hold: the version of every key.

#ifndef COMMON_ORACLE_ORACLE_H_
#define COMMON_ORACLE_ORACLE_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/oracle/huge_pages.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Versions count the writes of a key: the first put gives 1.  While the present
// keys are a prefix 0..n-1 at version 1 the oracle is computed and holds no
// memory; otherwise it holds four bytes per key of the key space.
//
// Several threads may write and read at once with Claim(), Publish() and
// Observe(), and ask what is present; all else wants the oracle for itself.
// The writes of one key are then one after another: a writer claims the key
// before its call on the engine and publishes what it wrote after it.  Who
// observes a key before a get and again after it knows the first version that
// the engine may answer with and the last.
class Oracle {
 public:
  Oracle() = default;

  // Forgets everything: an empty database whose keys come from
  // [0, key_space) and whose values have `value_size` bytes.
  void Reset(uint64_t key_space, uint64_t value_size);

  // As Reset(), but with the keys [0, count) present at version 1.
  void ResetToPrefix(uint64_t key_space, uint64_t value_size, uint64_t count);

  uint64_t key_space() const { return key_space_; }
  uint64_t value_size() const { return value_size_; }

  // The version of a present key, or 0 for an absent one, which includes every
  // key outside the key space.
  uint32_t Version(uint64_t key) const {
    if (versions_.empty()) return key < prefix_ ? 1 : 0;
    if (key >= key_space_) return 0;
    const uint32_t version = Load(key, std::memory_order_relaxed);
    return version & kDeleted ? 0 : version & ~kClaimed;
  }

  // What may be read of a key at one moment.
  struct Observed {
    uint32_t version;  // whose write has ended; 0: absent
    uint32_t newest;   // whose write has begun; 0: none, and absent
  };

  // Of a key that was absent, and is met all the same: it must have been put
  // since, to any version.  Nothing was begun by then, so what is observed
  // afterwards says how far the puts have come.
  static constexpr Observed AbsentBefore() { return {1, 0}; }

  // Of any key.
  Observed Observe(uint64_t key) const {
    if (versions_.empty()) return {Version(key), Version(key)};
    if (key >= key_space_) return {0, 0};
    const uint32_t record = Load(key, std::memory_order_acquire);
    const uint32_t puts = record & ~(kDeleted | kClaimed);
    const uint32_t version = record & kDeleted ? 0 : puts;
    return {version, record & kClaimed ? puts + 1 : version};
  }

  // Waits until no other thread writes `key`, and keeps all others from writing
  // it until Publish().  Returns the version that a put would give the key.  A
  // thread that claims several keys does so in ascending order.
  // REQUIRES: UseTable() was called; key < key_space()
  uint32_t Claim(uint64_t key);

  // The claimed key has had so many puts in all, and is present unless it was
  // deleted since.
  void Publish(uint64_t key, uint32_t puts, bool deleted) {
    Slot(key).store(puts | (deleted ? kDeleted : 0), std::memory_order_release);
  }

  // Records a put and returns the version it gives the key.
  // REQUIRES: UseTable() was called; key < key_space()
  uint32_t Put(uint64_t key) {
    return versions_[key] = (versions_[key] & ~kDeleted) + 1;
  }

  // Records a delete of a key, present or not.
  // REQUIRES: UseTable() was called; key < key_space()
  void Delete(uint64_t key) { versions_[key] |= kDeleted; }

  // All that is recorded of a key, and its return to that.
  // REQUIRES: UseTable() was called; key < key_space()
  uint32_t Record(uint64_t key) const { return versions_[key]; }
  void Restore(uint64_t key, uint32_t record) { versions_[key] = record; }

  // Values whose size is no function of what they grow from: the size of the
  // last put of a key, until the next one.  Eight bytes per key.
  // REQUIRES: UseTable() was called; size < 2^16
  void UseSizes() { sizes_.resize(key_space_); }
  void SetSize(uint64_t key, uint64_t size) {
    sizes_[key] = uint64_t{Version(key)} << kSizeBits | size;
  }
  bool HasSizes() const { return !sizes_.empty(); }

  // The size of the value of `key` at `version`, which grows from `root`.
  uint64_t SizeOf(uint64_t key, uint32_t version, uint64_t root,
                  const Values& values) const {
    if (HasSizes() && key < key_space_ && version != 0 &&
        sizes_[key] >> kSizeBits == version) {
      return sizes_[key] & ((uint64_t{1} << kSizeBits) - 1);
    }
    return values.SizeOf(root);
  }

  // Brings the entry of `key` into the processor's cache.
  void Prefetch(uint64_t key) const {
    if (!versions_.empty()) __builtin_prefetch(versions_.data() + key, 1);
  }

  // Makes Put() and Delete() possible: allocates the table.
  void UseTable();

  bool Empty() const;

  // How many keys are present.
  uint64_t Entries() const;

  // The first present key at or past `key`, or key_space() if there is none.
  uint64_t NextPresent(uint64_t key) const {
    if (versions_.empty()) return key < prefix_ ? key : key_space_;
    while (key < key_space_ && Version(key) == 0) ++key;
    return key;
  }

  // The last present key before `key`, or key_space() if there is none.
  uint64_t PreviousPresent(uint64_t key) const;

  // Of all present keys: how many, the bytes of their values, and the sum of
  // their fingerprints.
  struct Contents {
    uint64_t entries = 0;
    uint64_t value_bytes = 0;
    uint64_t digest = 0;
  };
  Contents Sum(const Values& values) const;

 private:
  static constexpr uint32_t kDeleted = uint32_t{1} << 31;
  static constexpr uint32_t kClaimed = uint32_t{1} << 30;

  std::atomic_ref<uint32_t> Slot(uint64_t key) const {
    return std::atomic_ref(const_cast<uint32_t&>(versions_[key]));
  }
  uint32_t Load(uint64_t key, std::memory_order order) const {
    return Slot(key).load(order);
  }

  static constexpr int kSizeBits = 16;

  uint64_t key_space_ = 0;
  uint64_t value_size_ = 0;
  uint64_t prefix_ = 0;  // meaningful while versions_ is empty
  // 0: never put; kDeleted: absent again.
  std::vector<uint32_t, HugePageAllocator<uint32_t>> versions_;
  std::vector<uint64_t> sizes_;  // version and size; see UseSizes()
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_ORACLE_H_
