#include "common/crash/crash_flags.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "common/spec/config.h"
#include "common/spec/number.h"

namespace kvmatrix {
namespace {

constexpr std::string_view kNames[] = {"crash_test",  "trace",        "phases",
                                       "crash_after", "crash_within", "cut_ns",
                                       "cut_end_ns"};

using Values = std::map<std::string, std::string, std::less<>>;

// Returns the name of the flag that a word sets, with one or two dashes; "" if
// it sets none of kNames.
std::string_view NameIn(std::string_view word) {
  if (!word.starts_with("-")) return "";
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::string_view name = word.substr(0, word.find('='));
  return IsCrashFlag(name) ? name : "";
}

Values Take(std::vector<const char*>& words) {
  Values values;
  std::vector<const char*> others;
  for (const char* const word : words) {
    const std::string name(NameIn(word));
    if (name.empty()) {
      others.push_back(word);
      continue;
    }
    const std::string_view text = word;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals + 1 == text.size())
      throw UsageError(name, "has no value; write --" + name + "=VALUE");
    values[name] = text.substr(equals + 1);
  }
  words = std::move(others);
  return values;
}

void ReadNumber(const Values& values, const std::string& name,
                uint64_t& number) {
  const auto it = values.find(name);
  if (it == values.end()) return;
  const std::string& text = it->second;
  const std::optional<uint64_t> parsed = ParseCount(text);
  if (!parsed)
    throw UsageError(name, "'" + text + "' is not an integer from 0 to 2^64-1");
  number = *parsed;
}

CrashTest TestNamed(const std::string& word) {
  if (word == "write") return CrashTest::kWrite;
  if (word == "audit") return CrashTest::kAudit;
  throw UsageError("crash_test", "'" + word + "'; expected write or audit");
}

}  // namespace

bool IsCrashFlag(std::string_view name) {
  return std::ranges::find(kNames, name) != std::end(kNames);
}

CrashFlags TakeCrashFlags(std::vector<const char*>& words) {
  const Values values = Take(words);
  CrashFlags flags;
  if (values.empty()) return flags;
  if (!values.contains("crash_test"))
    throw UsageError(values.begin()->first, "only with --crash_test");
  flags.test = TestNamed(values.at("crash_test"));
  if (!values.contains("trace"))
    throw UsageError("crash_test", "needs --trace=FILE");
  flags.trace = values.at("trace");
  flags.phases = values.contains("phases") ? values.at("phases")
                                           : std::string(kDefaultPhases);
  ReadNumber(values, "crash_after", flags.crash_after);
  ReadNumber(values, "crash_within", flags.crash_within);
  ReadNumber(values, "cut_ns", flags.cut_ns);
  ReadNumber(values, "cut_end_ns", flags.cut_end_ns);
  return flags;
}

}  // namespace kvmatrix
