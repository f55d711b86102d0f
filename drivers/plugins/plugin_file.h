// Loads a plug-in and checks what can be checked before it is called.

#ifndef DRIVERS_PLUGINS_PLUGIN_FILE_H_
#define DRIVERS_PLUGINS_PLUGIN_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/plugins/kvmatrix/driver.h"

namespace kvmatrix {

// The plug-ins that a command line names.
struct PluginPaths {
  std::filesystem::path driver;
  std::filesystem::path duet;  // empty: one build alone is measured
};

// Removes the words of --driver and --duet from a command line and returns the
// last value of each.  Throws UsageError if there is no driver, or no path.
PluginPaths TakePluginFlags(std::vector<const char*>& words);

// Loads the plug-in with local symbols and never unloads it.  The copy that is
// returned has all fields: those that the plug-in's version of the interface
// lacks are 0.  Throws UsageError, for `flag`, which named it, if the file is
// not a plug-in of this version, or if its description is not valid.
kvm_driver LoadPlugin(std::string_view flag, const std::filesystem::path& path);

// Throws UsageError, for the flag "duet", unless `other` is another build of
// `driver` that can be measured in the same process.
void RequireDuet(const kvm_driver& driver, const kvm_driver& other);

// Defines a flag of this program for each flag of the plug-in.  Throws
// UsageError if one is not valid.
void DefineFlags(const kvm_driver& driver);

// Defines one more, whose default is the present value of `value`, which lives
// as long as the process.
void DefineFlag(const char* name, const char* help, bool& value);

// Returns the present values of the plug-in's flags, in its order.
std::vector<std::string> FlagValues(const kvm_driver& driver);

}  // namespace kvmatrix

#endif  // DRIVERS_PLUGINS_PLUGIN_FILE_H_
