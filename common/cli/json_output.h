// JSON documents for other programs.  Their schemas are in report/schema/.
//
// Field names and their meanings are interfaces; kSchema (run/measurement.h) is
// raised when they change.  Bytes that are not UTF-8, as in an engine's
// message, are replaced.

#ifndef COMMON_CLI_JSON_OUTPUT_H_
#define COMMON_CLI_JSON_OUTPUT_H_

#include <string>

#include "common/driver.h"
#include "common/run/measurement.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Returns the result line of a measurement, with its newline: what was
// measured, the options and settings in force, and the build.  The times of a
// benchmark that failed are null.
std::string ToJsonLine(const Measurement& measurement, const Config& config,
                       const Driver& driver);

// Returns the document of --describe: the engine, its build, flags and
// benchmarks.  Opens two small databases for its proof of the codec, and throws
// what the engine throws.
std::string DescribeJson(const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_CLI_JSON_OUTPUT_H_
