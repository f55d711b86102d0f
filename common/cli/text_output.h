// Readable text, in the format that scripts written for db_bench parse.

#ifndef COMMON_CLI_TEXT_OUTPUT_H_
#define COMMON_CLI_TEXT_OUTPUT_H_

#include <span>
#include <string>
#include <string_view>

#include "common/driver.h"
#include "common/run/measurement.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Returns db_bench's header, with warnings about the build and the options.
// Whole lines, as all texts here.
std::string HeaderText(const Config& config, const Driver& driver);

// Returns db_bench's line for one benchmark: microseconds per operation of loop
// and flush together, megabytes of 2^20 bytes per second, operations per
// second, and a message;
// further lines for an open loop, shares and latencies.  Of a benchmark that
// failed it has only the status: the reason is printed to standard error.
std::string StatLine(const Measurement& measurement);

// What the line says of a second.
struct Rates {
  double operations = 0;  // 0: the benchmark failed
  double megabytes = 0;   // 0: the line has none
};
Rates RatesOf(const Measurement& measurement);

// Returns the average and the median of a benchmark that is repeated, as
// newer db_bench programs do; empty without two results.
std::string RepeatsText(std::string_view benchmark,
                        std::span<const Rates> results);

// Returns the line of a benchmark whose result does not count.
std::string WarmUpLine(const Measurement& measurement);

// Returns the text of --version.  Like DescribeJson(), it opens two small
// databases and throws what the engine throws.
std::string VersionText(const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_CLI_TEXT_OUTPUT_H_
