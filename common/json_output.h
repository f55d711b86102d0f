// The documents that other programs read.  Their schema is report/schema/.

#ifndef COMMON_JSON_OUTPUT_H_
#define COMMON_JSON_OUTPUT_H_

#include <string>

#include "common/config.h"
#include "common/driver.h"
#include "common/measurement.h"

namespace kvmatrix {

// One line, with its newline: the measurement and how it was made.
std::string ToJsonLine(const Measurement& measurement, const Config& config,
                       const Driver& driver);

// What --describe prints: the engine, its build, flags and benchmarks.
std::string DescribeJson(const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_JSON_OUTPUT_H_
