// What the database must contain: the version of every key.

#ifndef COMMON_ORACLE_ORACLE_H_
#define COMMON_ORACLE_ORACLE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/oracle/huge_pages.h"
#include "common/stream/values.h"

namespace kvmatrix {

// The version of a key is the number of puts it has received; the first put
// gives version 1.  A deleted key keeps its count.  While the present keys are
// a prefix 0..n-1, all at version 1, the oracle is computed and needs no
// memory; otherwise it has a table of four bytes per key of the key space.  A
// table that may grow (LetGrow()) reserves addresses and no memory for the keys
// to come.
//
// In a replayed stream the version is a record of the replay instead (see
// ReplayedStream), which Restore() sets.
//
// Concurrency.  TryClaim(), AwaitRelease(), Publish(), Observe(), Version(),
// NextPresent() and Grow() may be called by several threads at once, and so may
// Prefetch()
// and the const methods that read only the sizes (HasSizes(), SizeOf(),
// key_space(), value_size()) as long as none is set.  While no thread writes,
// every const method may be.  Put(), Delete(), Record() and Restore() may be
// called by several threads for different keys if no other thread observes
// them.  Every other method needs exclusive access.  A writer claims a key
// before its call on the engine and publishes the result after it, so the
// writes of one key form a sequence.  A reader that observes a key before and
// after its get knows the first and the last version that the engine may
// return.
//
// The protocol is in the table itself.  Bit 31 of an entry marks a deleted key,
// bit 30 a claimed one, the rest counts puts.  TryClaim() sets bit 30 by
// compare-and-swap; Publish() stores the new entry without the bit, with
// release order, so that a thread that observes the new version also sees that
// the engine has returned from the write.
class Oracle {
 public:
  Oracle() = default;

  // Forgets everything: an empty database with keys from [0, key_space) and
  // values of `value_size` bytes (or with that mean).
  void Reset(uint64_t key_space, uint64_t value_size);

  // The same with keys 0 to count - 1 present at version 1.
  void ResetToPrefix(uint64_t key_space, uint64_t value_size, uint64_t count);

  uint64_t key_space() const {
    return key_space_.load(std::memory_order_relaxed);
  }
  uint64_t value_size() const { return value_size_; }

  // Returns the version of a present key, or 0 for an absent one.  Keys outside
  // the key space are absent.
  uint32_t Version(uint64_t key) const {
    if (versions_.empty()) return key < prefix_ ? 1 : 0;
    if (key >= key_space()) return 0;
    const uint32_t version = Load(key, std::memory_order_relaxed);
    return version & kDeleted ? 0 : version & ~kClaimed;
  }

  // What a get of a key may return if it runs at this moment.
  struct Observed {
    uint32_t version;  // the last one whose write has ended; 0: absent
    uint32_t newest;   // the last one whose write has begun; 0: absent
    uint32_t oldest;   // the first one that is not overwritten or deleted
    bool operator==(const Observed&) const = default;
  };

  // The observation to compare with if a scan visits a key that was absent
  // before the scan: it must have been put since then, to any version from 1
  // on.  `newest` is 0, so only the observation after the call limits the
  // versions.
  static constexpr Observed AbsentBefore() { return {1, 0, 1}; }

  // Returns what may be read of any key at this moment.  Acquire order: whoever
  // observes a version also sees that its write has returned.  Thread-safe.
  Observed Observe(uint64_t key) const {
    if (versions_.empty()) return {Version(key), Version(key), 1};
    if (key >= key_space()) return {0, 0, 1};
    const uint32_t record = Load(key, std::memory_order_acquire);
    const uint32_t puts = record & ~(kDeleted | kClaimed);
    const uint32_t version = record & kDeleted ? 0 : puts;
    return {version, record & kClaimed ? puts + 1 : version,
            version ? version : puts + 1};
  }

  // Claims `key` and returns the version that a put will give it, or returns
  // nothing if another thread has claimed it.  A thread claims one key at a
  // time, so that no two wait for each other.  Acquire order: the previous
  // owner's write to the engine happened before this claim.
  // REQUIRES: UseTable() was called; key < key_space()
  std::optional<uint32_t> TryClaim(uint64_t key);

  // Waits, without using the processor for long, until `key` is not claimed.
  // Another thread may claim it before this one does.
  void AwaitRelease(uint64_t key) const;

  // Releases a claimed key, which has now received `puts` puts in all and is
  // present unless `deleted`.
  // REQUIRES: this thread has claimed the key; puts < 2^30
  void Publish(uint64_t key, uint32_t puts, bool deleted) {
    if (!deleted) Occupy(key);
    const std::atomic_ref<uint32_t> slot = Slot(key);
    slot.store(puts | (deleted ? kDeleted : 0), std::memory_order_release);
    slot.notify_all();
  }

  // Records a put and returns the new version.  REQUIRES: UseTable() was
  // called; key < key_space()
  uint32_t Put(uint64_t key) {
    Occupy(key);
    return versions_[key] = (versions_[key] & ~kDeleted) + 1;
  }

  // Records a delete of a key, present or not.  REQUIRES: UseTable() was
  // called; key < key_space()
  void Delete(uint64_t key) { versions_[key] |= kDeleted; }

  // Returns the raw entry of a key; Restore() sets it, to undo a Put() or
  // Delete().  REQUIRES: UseTable() was called; key < key_space()
  uint32_t Record(uint64_t key) const { return versions_[key]; }
  void Restore(uint64_t key, uint32_t record) {
    Occupy(key);
    versions_[key] = record;
  }

  // For values whose size is not a function of their root: SetSize() stores the
  // size of the value last put.  Eight bytes per key.  Sizes of versions for
  // which none was set are those of Values.
  // REQUIRES: UseTable() and, for SetSize(), UseSizes() were called; size <
  // 2^16
  void UseSizes() { sizes_.resize(key_space()); }
  void SetSize(uint64_t key, uint64_t size) {
    sizes_[key] = uint64_t{Version(key)} << kSizeBits | size;
  }
  bool HasSizes() const { return !sizes_.empty(); }

  // Returns the size of the value of `key` at `version`, which has this root.
  uint64_t SizeOf(uint64_t key, uint32_t version, uint64_t root,
                  const Values& values) const {
    if (key < sizes_.size() && version != 0 &&
        sizes_[key] >> kSizeBits == version) {
      return sizes_[key] & ((uint64_t{1} << kSizeBits) - 1);
    }
    return values.SizeOf(root);
  }

  // Fetches the entry of `key` into the processor's cache, for a write soon.
  // Always inlined: GCC takes a function that only prefetches for one without
  // an effect, and leaves its calls out.
  [[gnu::always_inline]] void Prefetch(uint64_t key) const {
    if (!versions_.empty()) __builtin_prefetch(versions_.data() + key, 1);
  }

  // Allocates the table, which Put(), Delete() and Claim() need.  Idempotent.
  // Throws std::runtime_error if there is not enough memory.
  void UseTable();

  // The same for a table that may grow to as many keys as the machine's memory
  // can hold.  Keys that are added use memory once they are put.
  void LetGrow();

  // Extends the key space to `keys` keys unless it has them.  Thread-safe.
  // Throws std::runtime_error if LetGrow() has not made room for them.
  void Grow(uint64_t keys) {
    if (keys > key_space()) Extend(keys);
  }

  // Notes where the table has present keys, so that NextPresent() takes about
  // as long however many keys have been deleted.  Later puts are noted too, but
  // not later deletes.  Reads the whole table: not for timed loops.
  void SkipDeleted();

  // True if no key is present.  Entries() counts the present keys.  Both read
  // the whole table in the worst case: not for timed loops.
  bool Empty() const;

  uint64_t Entries() const;

  // Returns the first present key at or after `key`, or key_space() if there is
  // none.  Reads an entry for each absent key in between, except in blocks of
  // which SkipDeleted() knows that they have none.
  uint64_t NextPresent(uint64_t key) const {
    if (versions_.empty()) return key < prefix_ ? key : key_space();
    while (key < key_space() && Version(key) == 0) {
      ++key;
      if (key % kBlock == 0 && !blocks_.empty()) key = NextOccupied(key);
    }
    return key;
  }

  // Returns the last present key before `key`, or key_space() if there is none.
  uint64_t PreviousPresent(uint64_t key) const;

  // Totals over all present keys: their number, the bytes of their values and
  // the sum of the fingerprints.
  struct Contents {
    uint64_t entries = 0;
    uint64_t value_bytes = 0;
    uint64_t digest = 0;
  };

  // Reads the whole table and computes a root for each present key: not for
  // timed loops.
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

  // Notes that the block of a key may have a present key.
  void Occupy(uint64_t key) {
    if (blocks_.empty()) return;
    SetBit(blocks_, key / kBlock);
    SetBit(groups_, key / kBlock / kBlock);
  }
  // Returns the first key of the first such block at or after that of `key`,
  // or key_space().
  uint64_t NextOccupied(uint64_t key) const;
  static void SetBit(const HugeTable<uint64_t>& words, uint64_t bit);
  void Extend(uint64_t keys);

  static constexpr int kSizeBits = 16;
  static constexpr uint64_t kBlock = 64;  // the bits of a word

  std::atomic<uint64_t> key_space_ = 0;
  uint64_t value_size_ = 0;
  uint64_t prefix_ = 0;  // meaningful while versions_ is empty
  // 0: never put; kDeleted: absent again.  As long as the key space may become.
  HugeTable<uint32_t> versions_;
  std::vector<uint64_t> sizes_;  // version and size; see UseSizes()
  // A bit for each block of keys, and one for each word of those: 0 if there is
  // certainly no present key.  Empty unless SkipDeleted() was called.
  HugeTable<uint64_t> blocks_;
  HugeTable<uint64_t> groups_;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_ORACLE_H_
