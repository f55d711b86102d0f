#include "common/oracle/oracle.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace kvmatrix {
namespace {

// The memory of the machine; less if addresses are limited (ulimit -v), which
// the engine needs too.
uint64_t MostBytes() {
  const uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return memory;
  }
  return std::min<uint64_t>(memory, limit.rlim_cur / 4);
}

}  // namespace

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
    versions_ = {key_space(), true};
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("not enough memory to record what " +
                             std::to_string(key_space()) +
                             " keys must contain; choose a smaller --num");
  }
  // All of it, so that a timed loop touches no page for the first time.
  std::fill_n(versions_.data(), key_space(), 0);
  std::fill_n(versions_.data(), prefix_, 1);
}

void Oracle::LetGrow() {
  UseTable();
  uint64_t most = MostBytes() / sizeof(uint32_t);
  // Half as much if the kernel promises no more than it has.
  for (; most > versions_.size(); most /= 2) {
    try {
      HugeTable<uint32_t> larger(most, false);
      std::copy_n(versions_.data(), key_space(), larger.data());
      versions_ = std::move(larger);
      return;
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
}

void Oracle::Extend(uint64_t keys) {
  if (keys > versions_.size()) {
    throw std::runtime_error(
        "not enough memory to record what " + std::to_string(keys) +
        " keys must contain; insert fewer records, with a smaller --reads, "
        "--duration or share of inserts");
  }
  uint64_t now = key_space();
  while (now < keys && !key_space_.compare_exchange_weak(
                           now, keys, std::memory_order_relaxed)) {
  }
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
  groups_ = {};
  if (versions_.empty()) return;
  const uint64_t blocks = versions_.size() / kBlock + 1;
  blocks_ = {blocks / kBlock + 1, false};
  groups_ = {blocks_.size() / kBlock + 1, false};
  for (uint64_t key = 0; key < key_space(); ++key) {
    if (Version(key) == 0) continue;
    Occupy(key);
    key |= kBlock - 1;  // the last key of the block
  }
}

// Most bits are set already.  Relaxed order: a thread that misses a new bit
// misses a key that was put during its call.
void Oracle::SetBit(const HugeTable<uint64_t>& words, uint64_t bit) {
  const std::atomic_ref<uint64_t> word(words[bit / kBlock]);
  const uint64_t mask = uint64_t{1} << bit % kBlock;
  if (word.load(std::memory_order_relaxed) & mask) return;
  word.fetch_or(mask, std::memory_order_relaxed);
}

uint64_t Oracle::NextOccupied(uint64_t key) const {
  constexpr auto from = [](const HugeTable<uint64_t>& words, uint64_t bit) {
    return std::atomic_ref(words[bit / kBlock])
               .load(std::memory_order_relaxed) >>
           bit % kBlock;
  };
  const uint64_t keys = key_space();
  const uint64_t words = keys / kBlock / kBlock + 1;  // of blocks_ in use
  uint64_t block = key / kBlock;
  while (block / kBlock < words) {
    if (const uint64_t bits = from(blocks_, block)) {
      return std::min((block + std::countr_zero(bits)) * kBlock, keys);
    }
    uint64_t word = block / kBlock + 1;
    while (word < words && from(groups_, word) == 0) {
      word = (word / kBlock + 1) * kBlock;
    }
    if (word >= words) break;
    block = (word + std::countr_zero(from(groups_, word))) * kBlock;
  }
  return keys;
}

bool Oracle::Empty() const { return NextPresent(0) == key_space(); }

uint64_t Oracle::Entries() const {
  if (versions_.empty()) return prefix_;
  return static_cast<uint64_t>(std::count_if(
      versions_.data(), versions_.data() + key_space(), [](uint32_t version) {
        return version != 0 && (version & kDeleted) == 0;
      }));
}

uint64_t Oracle::PreviousPresent(uint64_t key) const {
  key = std::min(key, versions_.empty() ? prefix_ : key_space());
  while (key > 0) {
    if (Version(--key) != 0) return key;
  }
  return key_space();
}

Oracle::Contents Oracle::Sum(const Values& values) const {
  Contents contents;
  for (uint64_t key = NextPresent(0); key < key_space();
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
