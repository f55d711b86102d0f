// The driver under test is the plug-in of --driver.

#include "common/cli/executable.h"
#include "tests/plugins/command_line.h"

namespace kvmatrix {

extern const Driver kDriver;
const Driver kDriver = LoadBeforeMain(SelectDriver);

}  // namespace kvmatrix
