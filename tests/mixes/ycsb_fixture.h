// YCSB's workloads on a small database.

#ifndef TESTS_MIXES_YCSB_FIXTURE_H_
#define TESTS_MIXES_YCSB_FIXTURE_H_

#include <string_view>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {

class YcsbRun : public RunnerFixture {
 protected:
  YcsbRun() {
    config_.num = 400;
    config_.reads = 3'000;
    config_.value_size = 1'000;
  }

  // Returns the measurement of `name` on a database that was loaded for it.
  Measurement RunLoaded(const Driver& driver, std::string_view name) {
    return Run(driver, {"ycsbload", name}).back();
  }
};

inline constexpr std::string_view kAll[] = {"ycsba", "ycsbb", "ycsbc",
                                            "ycsbd", "ycsbe", "ycsbf"};

}  // namespace kvmatrix

#endif  // TESTS_MIXES_YCSB_FIXTURE_H_
