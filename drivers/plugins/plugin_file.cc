#include "drivers/plugins/plugin_file.h"

#include <dlfcn.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/cli/executable.h"
#include "common/spec/config.h"
#include "drivers/plugins/conduct.h"

namespace kvmatrix {
namespace {

constexpr char kSymbol[] = "kvm_driver_get";
constexpr std::string_view kFlag = kDriverFlag;

[[noreturn]] void Refuse(const std::string& problem) {
  throw UsageError(std::string(kFlag), problem);
}

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

// Defines a flag whose value, default and name live as long as the process.
template <typename Value>
void Define(const kvm_flag& flag, Value value) {
  auto* const values = new Value[2]{value, value};
  gflags::FlagRegisterer(flag.name, flag.help, kFile, values, values + 1);
  if (gflags::SetCommandLineOption(flag.name, flag.default_value).empty()) {
    Refuse(std::string("the plug-in's flag ") + flag.name +
           " cannot have its default value, '" + flag.default_value + "'");
  }
  values[1] = values[0];
}

}  // namespace

std::filesystem::path TakeDriverFlag(std::vector<const char*>& words) {
  std::string path;
  for (auto word = words.begin(); word != words.end();) {
    std::string_view name = *word;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    const bool has_value = name.starts_with("driver=");
    if (!has_value && name != kFlag) {
      ++word;
      continue;
    }
    word = has_value ? word : words.erase(word);
    if (word == words.end()) break;
    path = has_value ? name.substr(kFlag.size() + 1) : *word;
    word = words.erase(word);
  }
  if (path.empty()) {
    Refuse("needs the path of a plug-in, also for --help: --driver=PATH");
  }
  return path;
}

kvm_driver LoadPlugin(const std::filesystem::path& path) try {
  const Conduct conduct("loading");
  const kvm_driver* const found = Find(path);
  CheckVersion(found, path.string());
  kvm_driver driver = {};
  std::memcpy(&driver, found, std::min<size_t>(found->size, sizeof(driver)));
  CheckComplete(driver, path.string());
  conduct.Check();
  return driver;
} catch (const UsageError&) {
  throw;
} catch (const std::exception& error) {
  Refuse(path.string() + ": " + error.what());
} catch (...) {
  Refuse(path.string() +
         " threw what is no std::exception while it was loaded");
}

void DefineFlags(const kvm_driver& driver) {
  for (size_t i = 0; i < driver.flag_count; ++i) {
    const kvm_flag& flag = driver.flags[i];
    if (!flag.name || !flag.type || !flag.default_value || !flag.help) {
      Refuse("flag " + std::to_string(i) + " of the plug-in is not complete");
    }
    gflags::CommandLineFlagInfo existing;
    if (gflags::GetCommandLineFlagInfo(flag.name, &existing)) {
      Refuse(std::string("the plug-in defines --") + flag.name +
             ", which exists already");
    }
    const std::string_view type = flag.type;
    if (type == "bool") {
      Define(flag, false);
    } else if (type == "int64") {
      Define<gflags::int64>(flag, 0);
    } else if (type == "uint64") {
      Define<gflags::uint64>(flag, 0);
    } else if (type == "double") {
      Define(flag, 0.0);
    } else if (type == "string") {
      Define<std::string>(flag, "");
    } else {
      Refuse(std::string("the plug-in's flag ") + flag.name +
             " has the type '" + flag.type +
             "'; expected bool, int64, uint64, double or string");
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
