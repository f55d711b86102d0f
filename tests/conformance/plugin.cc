// The driver under test is the plug-in of --driver.

#include <thread>
#include <vector>

#include "common/cli/executable.h"
#include "tests/plugins/command_line.h"

namespace kvmatrix {

namespace {

// ThreadSanitizer starts a thread of its own with the first one, which would
// count as the plug-in's if it were not there before.
const Driver& SelectAfterAThread(std::vector<const char*>& words) {
  std::thread([] {}).join();
  return SelectDriver(words);
}

}  // namespace

extern const Driver kDriver;
const Driver kDriver = LoadBeforeMain(SelectAfterAThread);

}  // namespace kvmatrix
