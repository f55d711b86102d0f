// The flags of a driver that is compiled as a plug-in, by the macros of gflags.
//
// Each plug-in has a table of its own, which export.cc describes to the program
// that loads it.  The real gflags has one table for a process, in which two
// builds of an engine (--duet) could not both define their flags.

#ifndef DRIVERS_PLUGINS_GFLAGS_GFLAGS_H_
#define DRIVERS_PLUGINS_GFLAGS_GFLAGS_H_

#include <cstdint>
#include <functional>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvmatrix {

struct PluginFlag {
  std::string name;
  std::string type;  // as in kvm_flag
  std::string default_value;
  std::string help;
  std::function<void(const std::string& text)> set;
};

// The flags of this plug-in, in the order of their definition.
inline std::vector<PluginFlag>& PluginFlags() {
  static std::vector<PluginFlag> flags;
  return flags;
}

template <typename Value>
std::string FlagText(const Value& value) {
  std::ostringstream text;
  text << std::boolalpha << std::setprecision(17) << value;
  return text.str();
}

// Sets a flag to the value that `text` has.  Throws std::invalid_argument.
template <typename Value>
void SetFlag(const std::string& text, Value& value) {
  std::istringstream in(text);
  in >> std::boolalpha >> value;
  if (in.fail())
    throw std::invalid_argument("not the value of a flag: " + text);
}
template <>
inline void SetFlag(const std::string& text, std::string& value) {
  value = text;
}

// Returns true, so that the definition of a flag can call it.
template <typename Value>
bool DefinePluginFlag(const char* name, const char* type, const char* help,
                      Value& value) {
  PluginFlags().push_back(
      {name, type, FlagText(value), help,
       [&value](const std::string& text) { SetFlag(text, value); }});
  return true;
}

}  // namespace kvmatrix

#define KVM_DEFINE_FLAG(Value, type, name, value, help)  \
  static Value FLAGS_##name = value;                     \
  [[maybe_unused]] static const bool is_defined_##name = \
      ::kvmatrix::DefinePluginFlag(#name, type, help, FLAGS_##name)

#define DEFINE_bool(name, value, help) \
  KVM_DEFINE_FLAG(bool, "bool", name, value, help)
#define DEFINE_int32(name, value, help) \
  KVM_DEFINE_FLAG(int32_t, "int32", name, value, help)
#define DEFINE_uint32(name, value, help) \
  KVM_DEFINE_FLAG(uint32_t, "uint32", name, value, help)
#define DEFINE_int64(name, value, help) \
  KVM_DEFINE_FLAG(int64_t, "int64", name, value, help)
#define DEFINE_uint64(name, value, help) \
  KVM_DEFINE_FLAG(uint64_t, "uint64", name, value, help)
#define DEFINE_double(name, value, help) \
  KVM_DEFINE_FLAG(double, "double", name, value, help)
#define DEFINE_string(name, value, help) \
  KVM_DEFINE_FLAG(std::string, "string", name, value, help)

#endif  // DRIVERS_PLUGINS_GFLAGS_GFLAGS_H_
