// The documents that other programs read.  Their schema is report/schema/.

#ifndef COMMON_CLI_JSON_OUTPUT_H_
#define COMMON_CLI_JSON_OUTPUT_H_

#include <string>

#include "common/driver.h"
#include "common/run/measurement.h"
#include "common/spec/config.h"

namespace kvmatrix {

// One line, with its newline: the measurement and how it was made.
std::string ToJsonLine(const Measurement& measurement, const Config& config,
                       const Driver& driver);

// What --describe prints: the engine, its build, flags and benchmarks.
std::string DescribeJson(const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_CLI_JSON_OUTPUT_H_
