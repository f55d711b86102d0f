// Memory for large tables that are read at random.

#ifndef COMMON_ORACLE_HUGE_PAGES_H_
#define COMMON_ORACLE_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kvmatrix {

// Asks the kernel for huge pages: with small ones each access of a random key
// would miss in the processor's table of pages, at the measured loop's cost.
template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, kPage);
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kPage); }

  bool operator==(const HugePageAllocator&) const { return true; }

 private:
  static constexpr std::align_val_t kPage{2u << 20};
};

}  // namespace kvmatrix

#endif  // COMMON_ORACLE_HUGE_PAGES_H_
