// The plug-in of --driver, wrapped in a driver that lies or is slower.
// Here drivers/plugin.cc defines SelectPlugin() instead of SelectDriver().

#include "common/cli/executable.h"
#include "drivers/plugins/plugin_file.h"
#include "tests/plugins/command_line.h"

namespace kvmatrix {

const Driver& SelectPlugin(std::vector<const char*>& words);
const BuildFacts& GetPluginFacts();

extern const Driver kReference;
// Before the driver that is made of it.
[[gnu::init_priority(200)]] const Driver kReference =
    LoadBeforeMain(SelectPlugin);

extern const Driver kDriver;  // made of kReference

const Driver& SelectDriver(std::vector<const char*>& words) {
  TakePluginFlags(words);
  return kDriver;
}

const BuildFacts& GetBuildFacts() { return GetPluginFacts(); }

}  // namespace kvmatrix
