// Changes of an input that keep most of it valid: a random byte rarely makes a
// word that is accepted.

#ifndef TESTS_FUZZ_MUTATED_H_
#define TESTS_FUZZ_MUTATED_H_

#include <string>
#include <string_view>

#include "common/random/random.h"

namespace kvmatrix::fuzz {

// Returns the input after one change: of a byte, of a whole word, of the value
// of a word, or with another flag or benchmark.  A function of its arguments.
std::string Mutated(std::string_view input, Random& random);

}  // namespace kvmatrix::fuzz

#endif  // TESTS_FUZZ_MUTATED_H_
