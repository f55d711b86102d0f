#include "common/cli/parse_flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "common/cli/flags.h"

namespace kvmatrix {
namespace {

using gflags::CommandLineFlagInfo;

// False for gflags' own flags, such as --flagfile: they are not supported.
bool IsOurs(const CommandLineFlagInfo& info) {
  return IsDriverFlag(info.filename) ||
         std::ranges::any_of(AllFlags(), [&info](const Flag& flag) {
           return info.name == flag.name;
         });
}

bool Find(const std::string& name, CommandLineFlagInfo& info) {
  return gflags::GetCommandLineFlagInfo(name.c_str(), &info) && IsOurs(info);
}

// Returns what the flag accepts.  A string flag accepts any value.
std::string Expected(const CommandLineFlagInfo& info) {
  if (info.type == "bool") return "true or false";
  const std::string kind = info.type == "double" ? "number" : "whole number";
  const std::string range = RangeOf(info.name);
  if (!range.empty()) return "a " + kind + " from " + range;
  if (info.type == "int32") return "a whole number from -2^31 to 2^31 - 1";
  if (info.type == "uint64") return "a whole number from 0 to 2^64 - 1";
  return "a " + kind;
}

void Set(const CommandLineFlagInfo& info, const std::string& value) {
  if (!gflags::SetCommandLineOption(info.name.c_str(), value.c_str()).empty()) {
    return;
  }
  throw UsageError(info.name,
                   "expected " + Expected(info) + ", not '" + value + "'");
}

}  // namespace

void ParseFlags(std::span<const char* const> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    const size_t start = word.starts_with("--") ? 2 : 1;
    if (!word.starts_with("-") || word.size() == start) {
      throw UsageError("unexpected argument '" + word + "'; see --help");
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(start, equals - start);
    const bool has_value = equals != word.npos;
    CommandLineFlagInfo info;
    if (Find(name, info)) {
      if (has_value) {
        Set(info, word.substr(equals + 1));
      } else if (info.type == "bool") {
        Set(info, "true");
      } else if (++i < words.size()) {
        Set(info, words[i]);
      } else {
        throw UsageError(name, "needs a value: --" + name + "=VALUE");
      }
    } else if (!has_value && name.starts_with("no") &&
               Find(name.substr(2), info) && info.type == "bool") {
      Set(info, "false");
    } else {
      throw UsageError("unknown flag " + word + "; see --help");
    }
  }
}

}  // namespace kvmatrix
