// Policies that say whether other threads write the keys that a loop works
// with.  Each loop is a template over one of them, which provides what is known
// of an answer before the call and how the answer is compared.

#ifndef COMMON_LOOPS_CONTENTION_H_
#define COMMON_LOOPS_CONTENTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/loops/run_context.h"

namespace kvmatrix {

// No other thread writes: an answer must equal what the oracle holds, which may
// be asked before or after the call.
struct Alone {
  static constexpr bool kOthersWrite = false;
  struct Known {};

  // Returns what is known of `key` before a call.
  static Known Observe(const ThreadContext& /*w*/, uint64_t /*key*/) {
    return {};
  }

  // Returns the same for a key that a scan visits although it was absent before
  // the call.
  static Known Absent() { return {}; }

  // Excludes the time since Meter::Begin(), which was spent on Observe(), from
  // the call.
  static void ExcludePreparation(const ThreadContext& /*w*/) {}

  // Checks `answer`, which the engine returned for `key`.
  static void Compare(const ThreadContext& w, uint64_t key,
                      const Known& /*known*/,
                      const std::optional<std::string_view>& answer) {
    w.check.ExpectValue(w.check.ExpectedOf(key), answer);
  }

  // True if a seek to `sought` may land on `key`, where `present` was the first
  // present key at or after `sought` before the call.
  static bool MayLand(uint64_t key, uint64_t /*sought*/, uint64_t present) {
    return key == present;
  }
};

// Other threads put keys, and delete none that is read here: an answer may have
// any version from the last one completed before the call to the last one begun
// by its end, and keys may appear during a call.
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
