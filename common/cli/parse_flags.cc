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

#include "common/cli/after_list.h"
#include "common/cli/executable.h"
#include "common/cli/flags.h"
#include "common/crash/crash_flags.h"
#include "common/spec/leveldb_words.h"
#include "common/spec/number.h"
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

Unit UnitOf(const CommandLineFlagInfo& info) {
  if (IsDriverFlag(info.filename)) return Unit::kUnknown;
  const std::string_view unit = FindFlag(info.name).unit;
  if (unit.starts_with("bytes")) return Unit::kBytes;
  return unit == "seconds" ? Unit::kSeconds : Unit::kCount;
}

// Returns the value as gflags reads it: a number in digits alone.  Empty if it
// is not one.
std::string Plain(const CommandLineFlagInfo& info, const std::string& value) {
  if (info.type == "bool" || info.type == "string") return value;
  char text[40];
  const auto print = [&text](auto number) {
    const auto [end, _] = std::to_chars(text, text + sizeof(text), number);
    return std::string(text, end);
  };
  if (info.type == "double") {
    const std::optional<double> number = ParseNumber(value, UnitOf(info));
    return number ? print(*number) : "";
  }
  const std::optional<Integer> number = ParseInteger(value, UnitOf(info));
  if (!number) return "";
  return (number->negative ? "-" : "") + print(number->amount);
}

// Returns what the flag accepts.  A string flag accepts any value.
std::string Expected(const CommandLineFlagInfo& info) {
  if (info.type == "bool") return "true or false";
  std::string kind = info.type == "double" ? "a number" : "a whole number";
  if (IsDriverFlag(info.filename)) {
    if (info.type == "int32") return kind + " from -2^31 to 2^31 - 1";
    if (info.type == "double") return kind + " from -2^44 to 2^44";
    if (info.type == "uint64") return kind + " from 0 to 2^44, such as 4MiB";
    return kind;
  }
  if (UnitOf(info) == Unit::kBytes) kind = "a size such as 4194304 or 4MiB,";
  if (UnitOf(info) == Unit::kSeconds)
    kind = "a time such as 10, 500ms or 2min,";
  const std::string range = RangeOf(info.name);
  if (!range.empty()) return kind + " from " + range;
  return kind + (info.type == "uint64" ? " from 0 to 2^64 - 1" : "");
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
  const std::string plain = Plain(info, value);
  const bool is_text = info.type == "string";
  if ((is_text || !plain.empty()) &&
      !gflags::SetCommandLineOption(info.name.c_str(), plain.c_str()).empty() &&
      IsPossible(info)) {
    return;
  }
  std::string problem = "expected " + Expected(info) + ", not '" + value + "'";
  if (plain.empty() && info.type != "bool") {
    const std::string hint = SpellingHint(value, UnitOf(info));
    if (!hint.empty()) problem += "; " + hint;
  }
  throw UsageError(info.name, problem);
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
  if (name == kDriverFlag || name == kDuetFlag || IsCrashFlag(name) ||
      FindAction("--" + name)) {
    return true;
  }
  return name.starts_with("no") &&
         std::ranges::any_of(AllFlags(), [&name](const Flag& flag) {
           return TypeName(flag) == "bool" && name.substr(2) == flag.name;
         });
}

// What is wrong with the words of a command line.
class Problems {
  struct Unknown {
    std::string advice;
    std::vector<std::string> flags;
  };

 public:
  // A flag with this name.  Those with the same advice are in one line.
  void AddUnknown(const std::string& name) {
    const std::string flag = (name.size() == 1 ? "-" : "--") + name;
    const std::string advice = AdviceOnFlag(name, KnownNames());
    for (Unknown& line : unknown_) {
      if (std::ranges::find(line.flags, flag) != line.flags.end()) return;
      if (line.advice != advice) continue;
      line.flags.push_back(flag);
      return;
    }
    unknown_.push_back({advice, {flag}});
  }
  void Add(const std::string& line) { lines_.push_back(line); }

  // Throws UsageError if there is any.  REQUIRES: all words are parsed
  void Throw() const {
    if (lines_.empty() && unknown_.empty()) return;
    std::vector<std::string> lines;
    for (const Unknown& line : unknown_) lines.push_back(TextOf(line));
    lines.insert(lines.end(), lines_.begin(), lines_.end());
    // Those of the benchmarks too, so that one attempt tells everything.
    const std::string list =
        gflags::GetCommandLineFlagInfoOrDie("benchmarks").current_value;
    try {
      for (const std::string& line : UnknownIn("benchmarks", list)) {
        lines.push_back("--benchmarks: " + line);
      }
    } catch (const UsageError& error) {
      lines.push_back(error.what());
    }
    if (lines.size() > 1) {
      throw UsageError(
          "parts of the command line are not understood; see --help", lines);
    }
    throw UsageError(lines.front() + (unknown_.empty() ? "" : "; see --help"));
  }

 private:
  static std::vector<std::string> KnownNames() {
    std::vector<CommandLineFlagInfo> flags;
    gflags::GetAllFlags(&flags);
    std::vector<std::string> names;
    for (const CommandLineFlagInfo& flag : flags) {
      if (IsOurs(flag)) names.push_back(flag.name);
    }
    return names;
  }

  static std::string TextOf(const Unknown& line) {
    const bool several = line.flags.size() > 1;
    std::string text = several ? "unknown flags " : "unknown flag ";
    for (const std::string& flag : line.flags) {
      text += (text.ends_with("flags ") || !several ? "" : ", ") + flag;
    }
    return text + (line.advice.empty() ? "" : ": " + line.advice);
  }

  std::vector<Unknown> unknown_;
  std::vector<std::string> lines_;
};

// True for a value that gflags accepts for a truth, but only after '='.
bool IsTruth(std::string_view word) {
  constexpr std::string_view kTruths[] = {"true", "false", "t", "f", "yes",
                                          "no",   "y",     "n", "1", "0"};
  return std::ranges::find(kTruths, word) != std::end(kTruths);
}

// Sets the flag that the first word names; returns the number of words that it
// takes.
size_t ParseWord(std::span<const char* const> words, Problems& problems) {
  const std::string word = words.front();
  const size_t start = word.starts_with("--") ? 2 : 1;
  if (!word.starts_with("-") || word.size() == start) {
    problems.Add("unexpected argument '" + word + "'; see --help");
    return 1;
  }
  const size_t equals = word.find('=');
  const std::string name = word.substr(start, equals - start);
  const bool has_value = equals != word.npos;
  const auto set = [&](const CommandLineFlagInfo& flag, const char* value) {
    try {
      Set(flag, value);
    } catch (const UsageError& error) {
      problems.Add(error.what());
    }
  };
  CommandLineFlagInfo info;
  if (Find(name, info)) {
    if (has_value) {
      set(info, word.c_str() + equals + 1);
      return 1;
    }
    if (info.type == "bool") {
      if (words.size() > 1 && IsTruth(words[1])) {
        problems.Add("--" + name + " " + words[1] + ": write --" + name + "=" +
                     words[1]);
        return 2;
      }
      set(info, "true");
      return 1;
    }
    if (words.size() > 1) {
      set(info, words[1]);
      return 2;
    }
    problems.Add("--" + name + ": needs a value: --" + name + "=VALUE");
    return 1;
  }
  if (!has_value && name.starts_with("no") && Find(name.substr(2), info) &&
      info.type == "bool") {
    set(info, "false");
    return 1;
  }
  problems.AddUnknown(name);
  // The next word is its value, or it would be the next problem.
  return !has_value && words.size() > 1 && *words[1] != '-' ? 2 : 1;
}

void ParseWords(std::span<const char* const> words) {
  Problems problems;
  while (!words.empty()) words = words.subspan(ParseWord(words, problems));
  problems.Throw();
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
