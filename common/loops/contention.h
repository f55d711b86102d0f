// Whether other threads write what a loop works with.  Each loop is a template
// of one of these policies, which says what is known of an answer before the
// call, and how the answer is compared.

#ifndef COMMON_LOOPS_CONTENTION_H_
#define COMMON_LOOPS_CONTENTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/loops/run_context.h"

namespace kvmatrix {

// No other thread writes: an answer must be exactly what the oracle holds,
// which can be asked at any time.
struct Alone {
  static constexpr bool kOthersWrite = false;
  struct Known {};

  // What is known of `key` before a call.
  static Known Observe(const ThreadContext& /*w*/, uint64_t /*key*/) {
    return {};
  }

  // The same of a key that is met though it was not there before the call.
  static Known Absent() { return {}; }

  // What was made ready for the call since Meter::Begin() is no part of
  // it.
  static void ExcludePreparation(const ThreadContext& /*w*/) {}

  // The engine answered `answer` to a call on `key`.
  static void Compare(const ThreadContext& w, uint64_t key,
                      const Known& /*known*/,
                      const std::optional<std::string_view>& answer) {
    w.check.ExpectValue(w.check.ExpectedOf(key), answer);
  }

  // True if a seek of `sought` may land on `key` where `present` is the first
  // key that was there before it.
  static bool MayLand(uint64_t key, uint64_t /*sought*/, uint64_t present) {
    return key == present;
  }
};

// Other threads write, and delete nothing that is sought or scanned: an answer
// may be of any version from the one before the call to the last one that is
// begun when it has returned, and keys may appear meanwhile.
struct Contended {
  static constexpr bool kOthersWrite = true;
  using Known = Oracle::Observed;

  static Known Observe(const ThreadContext& w, uint64_t key) {
    return w.oracle.Observe(key);
  }
  static Known Absent() { return Oracle::AbsentBefore(); }
  static void ExcludePreparation(const ThreadContext& w) {
    w.meter.ExcludePreparation();
  }
  static void Compare(const ThreadContext& w, uint64_t key, const Known& known,
                      const std::optional<std::string_view>& answer) {
    w.check.ExpectValueBetween(key, known, w.oracle.Observe(key), answer);
  }
  static bool MayLand(uint64_t key, uint64_t sought, uint64_t present) {
    return sought <= key && key <= present;
  }
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_CONTENTION_H_
