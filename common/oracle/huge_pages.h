// Memory for large tables that are accessed at random.

#ifndef COMMON_ORACLE_HUGE_PAGES_H_
#define COMMON_ORACLE_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kvmatrix {

// A standard allocator that aligns memory to 2 MiB, the size of a huge page on
// x86, and asks the kernel for huge pages (madvise(2), MADV_HUGEPAGE).  With
// pages of 4 KiB nearly every access to a large table misses the processor's
// TLB, and the harness would pay for that inside the timed loop.  The request
// is advisory: if the kernel declines, the memory works just the same.
//
//   std::vector<uint32_t, HugePageAllocator<uint32_t>> table;
//
// For few and large containers: the alignment may waste most of 2 MiB for each.
// Stateless; thread-safe.
template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  // Memory of one instance may be released by any other: all are equal.
  template <typename U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) {}

  // Throws std::bad_alloc as operator new does, and for no other reason.
  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, kPage);
    madvise(memory, bytes, MADV_HUGEPAGE);  // failure changes speed only
    return static_cast<T*>(memory);
  }

  // The alignment must be that of the allocation.
  void deallocate(T* memory, size_t) { ::operator delete(memory, kPage); }

  bool operator==(const HugePageAllocator&) const { return true; }

 private:
  static constexpr std::align_val_t kPage{2u << 20};
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_HUGE_PAGES_H_
