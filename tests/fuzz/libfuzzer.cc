// libFuzzer's own mutations, and ours in turn.

#include <algorithm>
#include <cstring>

#include "tests/fuzz/mutated.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned seed) {
  kvmatrix::Random random(seed);
  if (random.Uniform(3) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string input(reinterpret_cast<const char*>(data), size);
  const uint64_t chain = 1 + random.Uniform(4);
  for (uint64_t i = 0; i < chain; ++i) {
    input = kvmatrix::fuzz::Mutated(input, random);
  }
  input.resize(std::min(input.size(), max_size));
  std::memcpy(data, input.data(), input.size());
  return input.size();
}
