// Memory for large tables that are accessed at random, and may grow in place.

#ifndef COMMON_ORACLE_HUGE_PAGES_H_
#define COMMON_ORACLE_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace kvmatrix {

// A table of zeros that uses memory only for the pages that have been touched,
// so that it may be much longer than what is in it.  Aligned to 2 MiB, the size
// of a huge page on x86, and the kernel is asked for huge pages (madvise(2),
// MADV_HUGEPAGE): with pages of 4 KiB nearly every access to a large table
// misses the processor's TLB, and the harness would pay for that inside the
// timed loop.  The request is advisory: if the kernel declines, the memory
// works just the same.
//
// For few and large tables: the alignment may waste most of 2 MiB for each.
// As thread-safe as an array.
template <typename T>
class HugeTable {
  static_assert(std::is_trivial_v<T>);

 public:
  // Empty.
  HugeTable() = default;

  // `size` zeros.  Unless `is_promised`, the kernel need not have that much
  // memory, and ends the process if it runs out while the table is filled.
  // Throws std::bad_alloc.
  HugeTable(uint64_t size, bool is_promised) : size_(size) {
    if (size == 0) return;
    if (size > (SIZE_MAX - kPage) / sizeof(T)) throw std::bad_alloc();
    bytes_ = size * sizeof(T) + kPage;
    memory_ = mmap(
        nullptr, bytes_, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | (is_promised ? 0 : MAP_NORESERVE), -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<uintptr_t>(memory_);
    first_ = reinterpret_cast<T*>((address + kPage - 1) / kPage * kPage);
    // Not of what follows, which would make a short table a page long.  A
    // failure changes speed only.
    madvise(first_, size * sizeof(T), MADV_HUGEPAGE);
  }

  HugeTable(HugeTable&& other) noexcept { *this = std::move(other); }
  HugeTable& operator=(HugeTable&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HugeTable() {
    if (first_ != nullptr) munmap(memory_, bytes_);
  }

  bool empty() const { return size_ == 0; }
  uint64_t size() const { return size_; }
  T* data() const { return first_; }
  // REQUIRES: i < size()
  T& operator[](uint64_t i) const { return first_[i]; }

 private:
  static constexpr size_t kPage = 2u << 20;

  void* memory_ = nullptr;
  size_t bytes_ = 0;
  T* first_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_HUGE_PAGES_H_
