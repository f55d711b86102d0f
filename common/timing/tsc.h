// The processor's time stamp counter.

#ifndef COMMON_TIMING_TSC_H_
#define COMMON_TIMING_TSC_H_

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace kvmatrix {

#ifdef __x86_64__

// Ticks at a constant rate.  May be read before what comes before it is done.
inline uint64_t ReadTsc() { return __rdtsc(); }

// Lets nothing begin before all that comes before has completed.
inline void FenceTsc() { _mm_lfence(); }

#else

inline uint64_t ReadTsc() { return 0; }
inline void FenceTsc() {}

#endif

// True if the kernel itself keeps its time by the counter: it has then proved
// it constant, unstopping and equal on all processors.
bool TscIsReliable();

}  // namespace kvmatrix

#endif  // COMMON_TIMING_TSC_H_
