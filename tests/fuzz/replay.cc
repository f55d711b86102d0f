// main() of a fuzz target without libFuzzer: runs the inputs of a corpus, and
// mutations of them that are the same in each run.
//
//   mixes_fuzz CORPUS MUTATIONS
//
// Prints nothing unless something fails.  The file last-input in the current
// folder then has the input.

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fuzz/mutated.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace kvmatrix::fuzz {
namespace {

constexpr time_t kLongest = 5;          // seconds of processor time of an input
constexpr uint64_t kLongestChain = 12;  // mutations, one upon another
constexpr char kLastInput[] = "last-input";

std::vector<std::string> Inputs(const std::filesystem::path& corpus) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in),
                        std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Processor time, so that a busy machine makes no difference: SIGPROF ends the
// process if an input hangs.
void Limit(time_t seconds) {
  const itimerval limit{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

bool finished = false;

void Run(const std::string& input) {
  // Opened once: thousands of new files take longer than the inputs.
  static const int last = open(kLastInput, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const auto size = static_cast<ssize_t>(input.size());
  if (pwrite(last, input.data(), input.size(), 0) != size ||
      ftruncate(last, size) != 0) {
    std::perror(kLastInput);
  }
  Limit(kLongest);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()),
                         input.size());
}

int RunAll(const std::filesystem::path& corpus, uint64_t mutations) {
  // A target that ends the process has not passed.
  std::atexit([] {
    if (!finished) std::fputs("the input in last-input exits\n", stderr);
  });
  const std::vector<std::string> inputs = Inputs(corpus);
  if (inputs.empty()) throw std::invalid_argument("the corpus is empty");
  for (const std::string& input : inputs) Run(input);
  for (uint64_t i = 0; i < mutations; ++i) {
    Random random(i);
    std::string input = inputs[random.Uniform(inputs.size())];
    const uint64_t chain = 1 + random.Uniform(kLongestChain);
    for (uint64_t step = 0; step < chain; ++step) {
      input = Mutated(input, random);
    }
    Run(input);
  }
  Limit(0);
  finished = true;
  std::filesystem::remove(kLastInput);
  return 0;
}

}  // namespace
}  // namespace kvmatrix::fuzz

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return kvmatrix::fuzz::RunAll(argv[1], std::strtoull(argv[2], nullptr, 10));
}
