#include "common/cli/parse_flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cli/executable.h"
#include "common/cli/flags.h"
#include "common/crash/crash_flags.h"
#include "common/stream/leveldb_stream.h"

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
  if (IsDriverFlag(info.filename) && info.type == "double") {
    return "a number from -2^44 to 2^44";
  }
  const std::string range = RangeOf(info.name);
  if (!range.empty()) return "a " + kind + " from " + range;
  if (info.type == "int32") return "a whole number from -2^31 to 2^31 - 1";
  if (info.type == "uint64") {
    return std::string("a whole number from 0 to ") +
           (IsDriverFlag(info.filename) ? "2^44" : "2^64 - 1");
  }
  return "a " + kind;
}

// False for a number of the engine that is above kMaxEngineNumber or not
// finite. Asks gflags for the value: it accepts more than decimal digits.
bool IsPossible(const CommandLineFlagInfo& info) {
  if (!IsDriverFlag(info.filename) || info.type == "bool" ||
      info.type == "string") {
    return true;
  }
  const std::string value =
      gflags::GetCommandLineFlagInfoOrDie(info.name.c_str()).current_value;
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return std::abs(number) <= kMaxEngineNumber;
}

void Set(const CommandLineFlagInfo& info, const std::string& value) {
  if (!gflags::SetCommandLineOption(info.name.c_str(), value.c_str()).empty() &&
      IsPossible(info)) {
    return;
  }
  throw UsageError(info.name,
                   "expected " + Expected(info) + ", not '" + value + "'");
}

constexpr std::pair<std::string_view, Action> kActions[] = {
    {"help", Action::kHelp},       {"helpfull", Action::kHelp},
    {"version", Action::kVersion}, {"describe", Action::kDescribe},
    {"check", Action::kCheck},
};

// Returns the action that the word names, with or without a value.
std::optional<Action> FindAction(std::string_view word) {
  if (!word.starts_with('-')) return {};
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::string_view name = word.substr(0, word.find('='));
  for (const auto& [action_name, action] : kActions) {
    if (name == action_name) return action;
  }
  return {};
}

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr char kNameLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr char kFlagLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr size_t kMaxName = 64;

// True for letters and digits with single '-' or '_' between them, as in
// report/schema/names.schema.json.
bool IsName(std::string_view name) {
  if (name.size() > kMaxName) return false;
  while (true) {
    const size_t divider = name.find_first_not_of(kNameLetters);
    if (divider == name.npos) return !name.empty();
    if (divider == 0 || (name[divider] != '-' && name[divider] != '_'))
      return false;
    name.remove_prefix(divider + 1);
  }
}

bool IsFlagName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         kLetters.find(name.front()) != kLetters.npos &&
         name.find_first_not_of(kFlagLetters) == name.npos;
}

// True if words that begin with this flag mean something else already.
bool IsTaken(const std::string& name) {
  if (name == kDriverFlag || IsCrashFlag(name) || FindAction("--" + name))
    return true;
  return name.starts_with("no") &&
         std::ranges::any_of(AllFlags(), [&name](const Flag& flag) {
           return TypeName(flag) == "bool" && name.substr(2) == flag.name;
         });
}

void ParseWords(std::span<const char* const> words) {
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

}  // namespace

void CheckNames(const Driver& driver) {
  if (!IsName(driver.name)) {
    throw UsageError("the driver's name '" + std::string(driver.name) +
                     "' is not one; expected at most 64 of a-z and 0-9, with "
                     "single - or _ between them");
  }
  std::vector<CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  for (const CommandLineFlagInfo& flag : flags) {
    if (!IsDriverFlag(flag.filename)) continue;
    if (!IsFlagName(flag.name)) {
      throw UsageError("the driver's flag '" + flag.name +
                       "' has no name; expected at most 64 of a-z, 0-9 and _, "
                       "a letter first");
    }
    if (IsTaken(flag.name)) {
      throw UsageError("the driver defines --" + flag.name +
                       ", which exists already");
    }
  }
}

Action ActionOf(std::span<const char* const> words) {
  Action first = Action::kRun;
  for (const std::string_view word : words) {
    if (word.size() > kMaxWord) {
      throw UsageError("a word of " + std::to_string(word.size()) +
                       " bytes, which begins '" +
                       std::string(word.substr(0, 40)) +
                       "'; expected at most " + std::to_string(kMaxWord));
    }
    const std::optional<Action> action = FindAction(word);
    if (!action) continue;
    if (const size_t equals = word.find('='); equals != word.npos) {
      const std::string name(word.substr(0, equals));
      throw UsageError(name + ": has no value; write " + name);
    }
    if (first == Action::kRun || *action < first) first = *action;
  }
  return first;
}

std::span<const char* const> ProgramFlags(const Driver& driver,
                                          StreamKind stream) {
  if (stream != StreamKind::kDbBenchOneSeed) return {};
  return driver.program_flags;
}

void ParseFlags(std::span<const char* const> words, const Driver& driver) {
  std::vector<const char*> flags(words.begin(), words.end());
  std::erase_if(flags, [](const char* word) { return FindAction(word); });
  ParseWords(flags);
  const std::string stream =
      gflags::GetCommandLineFlagInfoOrDie("stream").current_value;
  if (stream != StreamName(StreamKind::kDbBenchOneSeed)) return;
  ParseWords(ProgramFlags(driver, StreamKind::kDbBenchOneSeed));
  ParseWords(flags);  // which override those of the program
}

}  // namespace kvmatrix
