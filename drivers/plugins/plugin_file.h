// Loads a plug-in and checks what can be checked before it is called.

#ifndef DRIVERS_PLUGINS_PLUGIN_FILE_H_
#define DRIVERS_PLUGINS_PLUGIN_FILE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "drivers/plugins/kvmatrix/driver.h"

namespace kvmatrix {

// Removes the words of --driver from a command line and returns the last value.
// Throws UsageError if there is none.
std::filesystem::path TakeDriverFlag(std::vector<const char*>& words);

// Loads the plug-in with local symbols and never unloads it.  The copy that is
// returned has all fields: those that the plug-in's version of the interface
// lacks are 0.  Throws UsageError, for the flag "driver", if the file is not a
// plug-in of this version, or if its description is not valid.
kvm_driver LoadPlugin(const std::filesystem::path& path);

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
