// db_bench_lying_plugin: the plug-in of --driver with the lie that --lie names.
// Here drivers/plugin.cc defines SelectPlugin() instead of SelectDriver().

#include "common/cli/executable.h"
#include "drivers/plugins/plugin_file.h"
#include "tests/plugins/command_line.h"

namespace kvmatrix {

const Driver& SelectPlugin(std::vector<const char*>& words);
const BuildFacts& GetPluginFacts();

extern const Driver kReference;
// Before the driver that lies, which is made of it.
[[gnu::init_priority(200)]] const Driver kReference =
    LoadBeforeMain(SelectPlugin);

extern const Driver kDriver;  // that lies

const Driver& SelectDriver(std::vector<const char*>& words) {
  TakeDriverFlag(words);
  return kDriver;
}

const BuildFacts& GetBuildFacts() { return GetPluginFacts(); }

}  // namespace kvmatrix
