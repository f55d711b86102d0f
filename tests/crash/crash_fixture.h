// A writer and an audit in one process, in a folder of their own.

#ifndef TESTS_CRASH_CRASH_FIXTURE_H_
#define TESTS_CRASH_CRASH_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/crash/crash_test.h"
#include "common/crash/trace.h"

namespace kvmatrix {

class CrashFixture : public testing::Test {
 protected:
  CrashFixture() {
    std::string name = testing::TempDir() + "crash-XXXXXX";
    folder_ = mkdtemp(name.data());
    config_.db = folder_ / "db";
    config_.durability = Durability::kDurable;
    std::filesystem::create_directory(config_.db);
    flags_.trace = folder_ / "trace";
    flags_.phases = "first:3,single:10,batch:2,cover:1,close:4";
  }
  ~CrashFixture() override { std::filesystem::remove_all(folder_); }

  // Returns the objects that were printed.
  std::vector<nlohmann::json> Run(CrashTest test,
                                  const Driver& driver = kDriver) {
    flags_.test = test;
    std::vector<nlohmann::json> lines;
    exit_status_ = RunCrashTest(driver, config_, flags_,
                                [&lines](const std::string& line) {
                                  lines.push_back(nlohmann::json::parse(line));
                                });
    return lines;
  }

  // Returns the answer of an audit after which the writer did nothing.
  nlohmann::json Audit(const Driver& driver = kDriver) {
    flags_.cut_ns = flags_.cut_end_ns - 1;
    return Run(CrashTest::kAudit, driver).at(0);
  }

  std::filesystem::path Log() const { return config_.db / "log"; }

  // Cuts the last bytes off the log of the memory engine.
  void Shorten(uintmax_t bytes) {
    const auto size = std::filesystem::file_size(Log());
    std::filesystem::resize_file(Log(), size - bytes);
  }

  std::filesystem::path folder_;
  Config config_;
  CrashFlags flags_;
  int exit_status_ = -1;
};

}  // namespace kvmatrix

#endif  // TESTS_CRASH_CRASH_FIXTURE_H_
