// What people and scripts that know db_bench read.

#ifndef COMMON_CLI_TEXT_OUTPUT_H_
#define COMMON_CLI_TEXT_OUTPUT_H_

#include <string>

#include "common/driver.h"
#include "common/run/measurement.h"
#include "common/spec/config.h"

namespace kvmatrix {

// db_bench's header, and warnings about how this executable was built.
std::string HeaderText(const Config& config, const Driver& driver);

// db_bench's line for one benchmark: microseconds per operation of the loop and
// the flush together, megabytes of 2^20 bytes per second, and a message.
std::string StatLine(const Measurement& measurement);

// What --version prints.
std::string VersionText(const Driver& driver);

}  // namespace kvmatrix

#endif  // COMMON_CLI_TEXT_OUTPUT_H_
