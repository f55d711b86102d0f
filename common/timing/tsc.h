// The time stamp counter of x86 processors.  On other architectures
// TscIsReliable() is false and the functions do nothing.

#ifndef COMMON_TIMING_TSC_H_
#define COMMON_TIMING_TSC_H_

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace kvmatrix {

#ifdef __x86_64__

// Returns the counter, which advances at a constant rate.  The processor
// executes out of order and may read it before earlier instructions have
// completed.
inline uint64_t ReadTsc() { return __rdtsc(); }

// Waits until all earlier instructions have completed (LFENCE), so that a
// following ReadTsc() does not begin before them.
inline void FenceTsc() { _mm_lfence(); }

#else

inline uint64_t ReadTsc() { return 0; }
inline void FenceTsc() {}

#endif

// True if the kernel uses the counter as its clock source.  It has then
// verified that the counter runs at a constant rate, never stops and is equal
// on all processors.
bool TscIsReliable();

}  // namespace kvmatrix

#endif  // COMMON_TIMING_TSC_H_
