// Policies that say whether other threads write the keys that a loop works
// with.  Each loop is a template over one of them, which provides what is known
// of an answer before the call and how the answer is compared.
//
//   const auto known = Contention::Observe(w, key);
//   Contention::ExcludePreparation(w);
//   Contention::Compare(w, key, known, session.Get(bytes_of_key));
//
// Compare() may observe the key again, so it begins after the call has
// returned: passing the call as its argument ensures that.
//
// A policy is a set of static functions.  They have no state and write to
// nothing but the check and the meter of their context, so each thread calls
// them with its own.  Alone costs nothing at run time: Known is empty and
// Observe() does nothing.

#ifndef COMMON_LOOPS_CONTENTION_H_
#define COMMON_LOOPS_CONTENTION_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/loops/run_context.h"
#include "common/mixes/mix_workload.h"

namespace kvmatrix {

// No other thread writes: an answer must equal what the oracle holds, which may
// be asked before or after the call.
//
// The loop's own thread may write, as long as it records each write before it
// compares the next answer.
struct Alone {
  // True if a loop must observe and claim keys; see Oracle.
  static constexpr bool kOthersWrite = false;
  // What is known of a key before a call, passed back to Compare().
  struct Known {};

  // Returns what is known of `key` before a call.
  static Known Observe(const ThreadContext& /*w*/, uint64_t /*key*/) {
    return {};
  }

  // Returns the same for a key that a scan visits although it was absent before
  // the call.
  static Known Absent() { return {}; }

  // Excludes the time since Meter::Begin(), which was spent on Observe(), from
  // the call.  Nothing was spent here.
  static void ExcludePreparation(const ThreadContext& /*w*/) {}

  // Checks `answer`, which the engine returned for `key`; nothing: it found no
  // entry.  A mismatch is recorded in w.check and does not throw.
  static void Compare(const ThreadContext& w, uint64_t key,
                      const Known& /*known*/,
                      const std::optional<std::string_view>& answer) {
    w.check.ExpectValue(w.check.ExpectedOf(key), answer);
  }

  // True if a scan may skip `key`, of which this is known from before the call.
  static bool MaySkip(const ThreadContext& /*w*/, uint64_t /*key*/,
                      const Known& /*known*/) {
    return false;
  }

  // True if a seek to `sought` may land on `key`, where `present` was the first
  // present key at or after `sought` before the call.  For `key` and `present`,
  // the size of the key space means that there is no entry.
  static bool MayLand(uint64_t key, uint64_t /*sought*/, uint64_t present) {
    return key == present;
  }
};

// Other threads put keys, and those of a mix that deletes also delete them: an
// answer may have any version from the last one completed before the call to
// the last one begun by its end, and keys may appear and disappear during a
// call.
//
// The functions have the meaning of those of Alone.
// REQUIRES: Oracle::UseTable() was called, and each writer claims its keys
struct Contended {
  static constexpr bool kOthersWrite = true;
  using Known = Oracle::Observed;

  // The observation before the call: the oldest version that is acceptable.
  static Known Observe(const ThreadContext& w, uint64_t key) {
    return w.oracle.Observe(key);
  }

  // Any version from the first put on is acceptable.
  static Known Absent() { return Oracle::AbsentBefore(); }
  static void ExcludePreparation(const ThreadContext& w) {
    w.meter.ExcludePreparation();
  }

  // Observes the key once more: the newest version that is acceptable.  The
  // fence keeps a processor from doing so before the engine has read the value.
  static void Compare(const ThreadContext& w, uint64_t key, const Known& known,
                      const std::optional<std::string_view>& answer) {
    std::atomic_thread_fence(std::memory_order_acquire);
    const Known after = w.oracle.Observe(key);
    w.check.ExpectValueBetween(key, known, after, MayBeAbsent(w, known, after),
                               answer);
  }

  // True if there was a moment between the two observations at which an answer
  // finds no entry: the key was absent, or a delete of it may have begun.
  static bool MayBeAbsent(const ThreadContext& w, const Known& known,
                          const Known& after) {
    if (known.version == 0) return true;
    if (w.mix == nullptr || !w.mix->Deletes()) return false;
    return known.newest != known.version || after != known;
  }
  static bool MaySkip(const ThreadContext& w, uint64_t key,
                      const Known& known) {
    return MayBeAbsent(w, known, w.oracle.Observe(key));
  }

  // An entry between the two may have been inserted since.  None beyond
  // `present` is acceptable, because no benchmark that seeks has deletes beside
  // it.
  static bool MayLand(uint64_t key, uint64_t sought, uint64_t present) {
    return sought <= key && key <= present;
  }
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_CONTENTION_H_
