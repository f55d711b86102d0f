// Any command line is either refused with a message, or it describes a run
// within all limits whose options can be written to a result line.

#include <algorithm>

#include "common/cli/flags.h"
#include "common/cli/text_output.h"
#include "common/driver.h"
#include "common/stream/leveldb_stream.h"
#include "tests/fuzz/words.h"

namespace kvmatrix::fuzz {
namespace {

// The values of all options, as in the result lines of all benchmarks.
std::vector<FlagValue> OptionsOf(const Config& config) {
  std::vector<FlagValue> options;
  for (const Benchmark* benchmark : config.benchmarks) {
    for (const Flag& flag : AllFlags()) {
      if (!IsOption(flag, config)) continue;
      options.push_back(OptionOf(flag, config, *benchmark));
    }
  }
  return options;
}

void RequireLines(const std::string& text) {
  Require(text.empty() || text.ends_with('\n'), "a text is whole lines");
}

}  // namespace
}  // namespace kvmatrix::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kvmatrix;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::optional<Config> config = fuzz::ConfigOfInput(input);
  if (!config) return 0;
  const std::optional<Config> again = fuzz::ConfigOfInput(input);
  fuzz::Require(again && fuzz::OptionsOf(*again) == fuzz::OptionsOf(*config),
                "equal words have equal options");
  fuzz::RequireLines(HeaderText(*config, kDriver));
  fuzz::RequireLines(DifferenceNotes(*config));
  return 0;
}
