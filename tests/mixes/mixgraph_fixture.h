// mixgraph and mixgraph-c on a small database.

#ifndef TESTS_MIXES_MIXGRAPH_FIXTURE_H_
#define TESTS_MIXES_MIXGRAPH_FIXTURE_H_

#include <string_view>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {

class MixgraphRun : public RunnerFixture {
 protected:
  MixgraphRun() {
    config_.num = 2'000;
    config_.reads = 4'000;
    config_.value_size = 43;
    config_.mix.mixgraph.mix_max_scan_len = 100;
  }

  void Choose(std::string_view name) {
    const bool corrected = name == "mixgraph-c";
    config_.value_size_law = corrected ? SizeLaw::kPareto : SizeLaw::kFixed;
    config_.value_size_min = corrected ? 10 : 0;
    config_.value_size_max = corrected ? 1'024 : 0;
    config_.pareto = {0.2615, corrected ? 25.45 : 0};
  }

  Measurement RunFilled(const Driver& driver, std::string_view name) {
    Choose(name);
    return Run(driver, {"filluniquerandom", name}).back();
  }
};

inline constexpr std::string_view kBoth[] = {"mixgraph", "mixgraph-c"};

}  // namespace kvmatrix

#endif  // TESTS_MIXES_MIXGRAPH_FIXTURE_H_
