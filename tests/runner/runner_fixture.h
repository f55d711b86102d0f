// Runs benchmarks through the real runner on a small database of this process.

#ifndef TESTS_RUNNER_RUNNER_FIXTURE_H_
#define TESTS_RUNNER_RUNNER_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/run/runner.h"
#include "common/spec/quantities.h"
#include "tests/runner/wrapped_driver.h"
#include "tests/timing/fake_clock.h"

namespace kvmatrix {

inline bool Has(const std::string& text, const char* part) {
  return text.find(part) != text.npos;
}

class RunnerFixture : public testing::Test {
 protected:
  RunnerFixture() {
    config_.num = 500;
    config_.reads = 500;
    config_.db =
        std::filesystem::path(testing::TempDir()) /
        ("runner-" + std::to_string(getpid()) + "-" +
         testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  ~RunnerFixture() override { std::filesystem::remove_all(config_.db); }

  // Returns the measurements of these benchmarks, run by one process.
  std::vector<Measurement> Run(const Driver& driver,
                               const std::vector<std::string_view>& names) {
    config_.use_existing_db = false;
    config_.after.clear();
    return RunOn(driver, names);
  }

  // Runs a benchmark over a filled database.
  Measurement Over(const Behaviour& behaviour, std::string_view name) {
    return Run(Wrapped(behaviour), {"filluniquerandom", name})[1];
  }

  // Returns the measurement of one benchmark, run by a process that follows one
  // that has run `past`, with `operations` operations each, or all of them.
  Measurement RunAfter(const Driver& driver,
                       const std::vector<AppliedBenchmark>& past,
                       std::string_view name) {
    config_.use_existing_db = true;
    config_.after = past;
    return RunOn(driver, {name}).front();
  }

  AppliedBenchmark ParseAfterWord(std::string_view name) const {
    const Benchmark* benchmark = FindBenchmark(name);
    const bool mix = benchmark->kind == Kind::kMix;
    return {benchmark, {mix ? config_.reads : EntriesOf(*benchmark, config_)}};
  }

  Config config_;
  FakeClock clock_;

 private:
  std::vector<Measurement> RunOn(const Driver& driver,
                                 const std::vector<std::string_view>& names) {
    Runner runner(driver, config_, clock_);
    std::vector<Measurement> measurements;
    for (size_t i = 0; i < names.size(); ++i) {
      const bool last = i + 1 == names.size();
      measurements.push_back(
          runner.Run(*FindBenchmark(names[i]),
                     last ? nullptr : FindBenchmark(names[i + 1])));
    }
    return measurements;
  }
};

}  // namespace kvmatrix

#endif  // TESTS_RUNNER_RUNNER_FIXTURE_H_
