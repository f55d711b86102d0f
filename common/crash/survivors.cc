#include "common/crash/survivors.h"

#include <optional>
#include <string_view>

namespace kvmatrix {
namespace {

constexpr uint64_t kAbsentKeys = 3;  // that are read although none was written

}  // namespace

Survivors ReadSurvivors(Session& session, const History& history) {
  Survivors survivors;
  // What was found under each key that was asked for.
  std::map<std::string, std::optional<std::string>, std::less<>> values;
  for (const auto& [key, versions] : history.versions()) {
    const std::string text = CrashKey(key);
    const auto value = session.Get(text);
    const Found found = history.Identify(key, value);
    survivors.keys[key] = found;
    survivors.foreign += found.is_foreign;
    survivors.entries += value.has_value();
    values[text] = value;
  }
  for (uint64_t i = 0; i < kAbsentKeys; ++i)
    survivors.foreign += session.Get(CrashKey(kCrashKeys + i)).has_value();
  uint64_t scanned = 0;
  session.Scan(
      "", Order::kForward, [&](std::string_view key, std::string_view value) {
        if (key.starts_with(kProbePrefix)) return true;
        const auto it = values.find(key);
        if (it == values.end()) {
          ++survivors.foreign;
          return true;
        }
        ++scanned;
        if (!it->second) {
          survivors.difference = "a scan finds the key " + std::string(key) +
                                 ", and a get does not";
        } else if (it->second != value) {
          survivors.difference = "a scan finds another value of " +
                                 std::string(key) + " than a get";
        }
        return true;
      });
  if (survivors.difference.empty() && scanned != survivors.entries)
    survivors.difference = "a scan finds " + std::to_string(scanned) +
                           " entries, and gets find " +
                           std::to_string(survivors.entries);
  return survivors;
}

}  // namespace kvmatrix
