#include "common/oracle/oracle.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace kvmatrix {

void Oracle::Reset(uint64_t key_space, uint64_t value_size) {
  ResetToPrefix(key_space, value_size, 0);
}

void Oracle::ResetToPrefix(uint64_t key_space, uint64_t value_size,
                           uint64_t count) {
  key_space_ = key_space;
  value_size_ = value_size;
  prefix_ = count;
  versions_ = {};
  sizes_ = {};
  blocks_ = {};
  groups_ = {};
}

void Oracle::UseTable() {
  if (!versions_.empty()) return;
  try {
    versions_.resize(key_space_);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw std::runtime_error("not enough memory to record what " +
                             std::to_string(key_space_) +
                             " keys must contain; choose a smaller --num");
  }
  std::fill_n(versions_.begin(), prefix_, 1);
}

std::optional<uint32_t> Oracle::TryClaim(uint64_t key) {
  const std::atomic_ref<uint32_t> slot = Slot(key);
  uint32_t record = slot.load(std::memory_order_relaxed);
  while ((record & kClaimed) == 0) {
    if (slot.compare_exchange_weak(record, record | kClaimed,
                                   std::memory_order_acq_rel,
                                   std::memory_order_relaxed)) {
      return (record & ~kDeleted) + 1;
    }
  }
  return std::nullopt;
}

void Oracle::AwaitRelease(uint64_t key) const {
  const std::atomic_ref<uint32_t> slot = Slot(key);
  uint32_t record = slot.load(std::memory_order_relaxed);
  while ((record & kClaimed) != 0) {
    slot.wait(record, std::memory_order_relaxed);
    record = slot.load(std::memory_order_relaxed);
  }
}

void Oracle::SkipDeleted() {
  blocks_ = {};
  if (versions_.empty()) return;
  const uint64_t blocks = key_space_ / kBlock + 1;
  blocks_.assign(blocks / kBlock + 1, 0);
  groups_.assign(blocks_.size() / kBlock + 1, 0);
  for (uint64_t key = 0; key < key_space_; ++key) {
    if (Version(key) == 0) continue;
    Occupy(key);
    key |= kBlock - 1;  // the last key of the block
  }
}

// Most bits are set already.  Relaxed order: a thread that misses a new bit
// misses a key that was put during its call.
void Oracle::SetBit(std::vector<uint64_t>& words, uint64_t bit) {
  const std::atomic_ref<uint64_t> word(words[bit / kBlock]);
  const uint64_t mask = uint64_t{1} << bit % kBlock;
  if (word.load(std::memory_order_relaxed) & mask) return;
  word.fetch_or(mask, std::memory_order_relaxed);
}

uint64_t Oracle::NextOccupied(uint64_t key) const {
  constexpr auto from = [](const std::vector<uint64_t>& words, uint64_t bit) {
    auto& word = const_cast<uint64_t&>(words[bit / kBlock]);
    return std::atomic_ref(word).load(std::memory_order_relaxed) >>
           bit % kBlock;
  };
  uint64_t block = key / kBlock;
  while (block / kBlock < blocks_.size()) {
    if (const uint64_t bits = from(blocks_, block)) {
      return std::min((block + std::countr_zero(bits)) * kBlock, key_space_);
    }
    uint64_t word = block / kBlock + 1;
    while (word / kBlock < groups_.size() && from(groups_, word) == 0) {
      word = (word / kBlock + 1) * kBlock;
    }
    if (word / kBlock >= groups_.size()) break;
    block = (word + std::countr_zero(from(groups_, word))) * kBlock;
  }
  return key_space_;
}

bool Oracle::Empty() const { return NextPresent(0) == key_space_; }

uint64_t Oracle::Entries() const {
  if (versions_.empty()) return prefix_;
  return static_cast<uint64_t>(
      std::count_if(versions_.begin(), versions_.end(), [](uint32_t version) {
        return version != 0 && (version & kDeleted) == 0;
      }));
}

uint64_t Oracle::PreviousPresent(uint64_t key) const {
  key = std::min(key, versions_.empty() ? prefix_ : key_space_);
  while (key > 0) {
    if (Version(--key) != 0) return key;
  }
  return key_space_;
}

Oracle::Contents Oracle::Sum(const Values& values) const {
  Contents contents;
  for (uint64_t key = NextPresent(0); key < key_space_;
       key = NextPresent(key + 1)) {
    ++contents.entries;
    const uint32_t version = Version(key);
    const uint64_t root = values.Root(key, version);
    contents.value_bytes += SizeOf(key, version, root, values);
    contents.digest += Values::Fingerprint(root);
  }
  return contents;
}

}  // namespace kvmatrix
