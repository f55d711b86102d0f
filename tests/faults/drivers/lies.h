// The ways in which db_bench_lying can lie: one function for each family.
//
// A lie changes one behaviour of the reference and nothing else, so that a
// check that fails has caught that lie.

#ifndef TESTS_FAULTS_DRIVERS_LIES_H_
#define TESTS_FAULTS_DRIVERS_LIES_H_

#include <gflags/gflags.h>

#include <span>

#include "tests/runner/wrapped_driver.h"

DECLARE_uint64(lie_every);

namespace kvmatrix {

// A flag of the harness.  Honest drivers do not read it.
inline std::string FlagText(const char* name) {
  return gflags::GetCommandLineFlagInfoOrDie(name).current_value;
}
inline uint64_t FlagNumber(const char* name) {
  return std::stoull(FlagText(name));
}

// One lie: its name for --lie, and what an engine with it does.
struct Lie {
  const char* name;
  const char* does;
  Behaviour (*behaviour)();
};

std::span<const Lie> LiesOfWrites();
std::span<const Lie> LiesOfGets();
std::span<const Lie> LiesOfScans();
std::span<const Lie> LiesOfTime();
std::span<const Lie> LiesOfAnswers();

// True for every --lie_every-th call.
class Now {
 public:
  bool operator()() { return ++calls_ % FLAGS_lie_every == 0; }

 private:
  uint64_t calls_ = 0;
};

// True for the --lie_every-th call alone.
class Once {
 public:
  bool operator()() { return ++calls_ == FLAGS_lie_every; }

 private:
  uint64_t calls_ = 0;
};

}  // namespace kvmatrix

#endif  // TESTS_FAULTS_DRIVERS_LIES_H_
