// JSON documents for other programs.  Their schemas are in report/schema/.

#ifndef COMMON_CLI_JSON_OUTPUT_H_
#define COMMON_CLI_JSON_OUTPUT_H_

#include <string>

#include "common/driver.h"
#include "common/run/measurement.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Returns the result line of a measurement, with its newline: what was
// measured, the options and settings in force, and the build.
std::string ToJsonLine(const Measurement& measurement, const Config& config,
                       const Driver& driver);

// Returns the document of --describe: the engine, its build, flags and
// benchmarks.
std::string DescribeJson(const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_CLI_JSON_OUTPUT_H_
