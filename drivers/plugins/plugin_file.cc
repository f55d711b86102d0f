#include "drivers/plugins/plugin_file.h"

#include <dlfcn.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "common/cli/executable.h"
#include "common/spec/config.h"
#include "drivers/plugins/conduct.h"

namespace kvmatrix {
namespace {

constexpr char kSymbol[] = "kvm_driver_get";

// Why a file is refused: without the flag that names it.
class Refused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void Refuse(const std::string& problem) { throw Refused(problem); }

const kvm_driver* Find(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    Refuse("is a directory: " + path.string());
  }
  if (!std::filesystem::is_regular_file(path)) {
    Refuse("no such file: " + path.string());
  }
  void* const library =
      dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    Refuse(std::string("cannot be loaded: ") + dlerror());
  }
  void* const symbol = dlsym(library, kSymbol);
  if (symbol == nullptr) {
    Refuse(path.string() + " is not a plug-in: it exports no " + kSymbol +
           "(); see kvmatrix/driver.h");
  }
  return reinterpret_cast<decltype(&kvm_driver_get)>(symbol)(KVM_ABI);
}

void CheckVersion(const kvm_driver* driver, const std::string& file) {
  const std::string expected =
      "; this program has version " + std::to_string(KVM_ABI) +
      " of the interface, so compile the plug-in with that kvmatrix/driver.h";
  if (driver == nullptr) Refuse(file + " has no such version" + expected);
  if (driver->abi != KVM_ABI) {
    Refuse(file + " has version " + std::to_string(driver->abi) + expected);
  }
}

void CheckComplete(const kvm_driver& driver, const std::string& file) {
  const std::pair<const char*, bool> kParts[] = {
      {"name", driver.name && *driver.name},
      {"licence", driver.licence && *driver.licence},
      {"codec (\"\": none)", driver.codec != nullptr},
      {"origin", driver.origin != nullptr},
      {"scans", driver.scans <= KVM_BOTH_WAYS},
      {"flags", driver.flags || driver.flag_count == 0},
      {"version", driver.version != nullptr},
      {"guarantees", driver.guarantees != nullptr},
      {"open", driver.open != nullptr},
      {"close", driver.close != nullptr},
      {"flush", driver.flush != nullptr},
      {"settle", driver.settle != nullptr},
      {"settings", driver.settings != nullptr},
      {"session", driver.session != nullptr},
      {"end", driver.end != nullptr},
      {"write", driver.write != nullptr},
      {"get", driver.get != nullptr},
      {"scan", driver.scan != nullptr},
  };
  for (const auto& [part, valid] : kParts) {
    if (!valid) Refuse(file + " has a driver without a valid " + part);
  }
}

constexpr char kFile[] = "drivers/plugin.cc";

[[noreturn]] void RefuseDriver(const std::string& problem) {
  throw UsageError(std::string(kDriverFlag), problem);
}

// Defines a flag whose value, default and name live as long as the process.
template <typename Value>
void Define(const kvm_flag& flag, Value value) {
  auto* const values = new Value[2]{value, value};
  gflags::FlagRegisterer(flag.name, flag.help, kFile, values, values + 1);
  if (gflags::SetCommandLineOption(flag.name, flag.default_value).empty()) {
    RefuseDriver(std::string("the plug-in's flag ") + flag.name +
                 " cannot have its default value, '" + flag.default_value +
                 "'");
  }
  values[1] = values[0];
}

// Removes the words of a flag and returns its last value.
std::optional<std::string> TakeFlag(std::string_view flag,
                                    std::vector<const char*>& words) {
  std::optional<std::string> value;
  for (auto word = words.begin(); word != words.end();) {
    std::string_view name = *word;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    const bool has_value = name.starts_with(std::string(flag) + "=");
    if (!has_value && name != flag) {
      ++word;
      continue;
    }
    word = has_value ? word : words.erase(word);
    if (word == words.end()) break;
    value = has_value ? std::string(name.substr(flag.size() + 1)) : *word;
    word = words.erase(word);
  }
  return value;
}

bool HaveSameFlags(const kvm_driver& a, const kvm_driver& b) {
  const auto same = [](const kvm_flag& x, const kvm_flag& y) {
    return std::string_view(x.name) == y.name &&
           std::string_view(x.type) == y.type &&
           std::string_view(x.default_value) == y.default_value;
  };
  return std::ranges::equal(std::span(a.flags, a.flag_count),
                            std::span(b.flags, b.flag_count), same);
}

// Returns the file that has the code of the engine.
std::string FileOfCode(const kvm_driver& driver) {
  const void* const code =
      driver.code ? driver.code : reinterpret_cast<const void*>(driver.version);
  Dl_info info = {};
  return dladdr(code, &info) != 0 ? info.dli_fname : "";
}

std::string WhyNoDuet(const kvm_driver& a, const kvm_driver& b) {
  const std::string_view name = a.name;
  if (name != b.name) {
    return "is another engine, " + std::string(b.name) +
           "; expected a build of " + std::string(name);
  }
  if ((a.properties & (KVM_COMPILES_LATE | KVM_OWN_SYSTEM_CALLS)) != 0) {
    return std::string(name) +
           " has the runtime of a language, which a process can have only "
           "once; "
           "measure it in processes of its own";
  }
  if (std::string_view(a.codec) != b.codec || a.scans != b.scans ||
      a.properties != b.properties || !HaveSameFlags(a, b)) {
    return "has other flags, another codec or other scans than the plug-in of "
           "--driver; build both with the same driver";
  }
  if (const std::string file = FileOfCode(a); file == FileOfCode(b)) {
    return "runs the same engine as the plug-in of --driver, " + file +
           "; link each with its own static library";
  }
  return "";
}

}  // namespace

PluginPaths TakePluginFlags(std::vector<const char*>& words) {
  const std::string driver = TakeFlag(kDriverFlag, words).value_or("");
  if (driver.empty()) {
    throw UsageError(
        std::string(kDriverFlag),
        "needs the path of a plug-in, also for --help: --driver=PATH");
  }
  const std::optional<std::string> duet = TakeFlag(kDuetFlag, words);
  if (duet && duet->empty()) {
    throw UsageError(std::string(kDuetFlag),
                     "needs the path of a second build of the plug-in");
  }
  return {.driver = driver, .duet = duet.value_or("")};
}

kvm_driver LoadPlugin(std::string_view flag,
                      const std::filesystem::path& path) try {
  const Conduct conduct("loading");
  const kvm_driver* const found = Find(path);
  CheckVersion(found, path.string());
  kvm_driver driver = {};
  std::memcpy(&driver, found, std::min<size_t>(found->size, sizeof(driver)));
  CheckComplete(driver, path.string());
  conduct.Check();
  return driver;
} catch (const Refused& refused) {
  throw UsageError(std::string(flag), refused.what());
} catch (const std::exception& error) {
  throw UsageError(std::string(flag), path.string() + ": " + error.what());
} catch (...) {
  throw UsageError(
      std::string(flag),
      path.string() + " threw what is no std::exception while it was loaded");
}

void RequireDuet(const kvm_driver& driver, const kvm_driver& other) {
  const std::string problem = WhyNoDuet(driver, other);
  if (!problem.empty()) throw UsageError(std::string(kDuetFlag), problem);
}

void DefineFlags(const kvm_driver& driver) {
  for (size_t i = 0; i < driver.flag_count; ++i) {
    const kvm_flag& flag = driver.flags[i];
    if (!flag.name || !flag.type || !flag.default_value || !flag.help) {
      RefuseDriver("flag " + std::to_string(i) +
                   " of the plug-in is not complete");
    }
    gflags::CommandLineFlagInfo existing;
    if (gflags::GetCommandLineFlagInfo(flag.name, &existing)) {
      RefuseDriver(std::string("the plug-in defines --") + flag.name +
                   ", which exists already");
    }
    const std::string_view type = flag.type;
    if (type == "bool") {
      Define(flag, false);
    } else if (type == "int32") {
      Define<gflags::int32>(flag, 0);
    } else if (type == "uint32") {
      Define<gflags::uint32>(flag, 0);
    } else if (type == "int64") {
      Define<gflags::int64>(flag, 0);
    } else if (type == "uint64") {
      Define<gflags::uint64>(flag, 0);
    } else if (type == "double") {
      Define(flag, 0.0);
    } else if (type == "string") {
      Define<std::string>(flag, "");
    } else {
      RefuseDriver(
          std::string("the plug-in's flag ") + flag.name + " has the type '" +
          flag.type +
          "'; expected bool, int32, uint32, int64, uint64, double or string");
    }
  }
}

void DefineFlag(const char* name, const char* help, bool& value) {
  gflags::FlagRegisterer(name, help, kFile, &value, new bool(value));
}

std::vector<std::string> FlagValues(const kvm_driver& driver) {
  std::vector<std::string> values;
  for (size_t i = 0; i < driver.flag_count; ++i) {
    values.push_back(gflags::GetCommandLineFlagInfoOrDie(driver.flags[i].name)
                         .current_value);
  }
  return values;
}

}  // namespace kvmatrix
