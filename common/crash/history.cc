#include "common/crash/history.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/random/random.h"

namespace kvmatrix {
namespace {

constexpr uint64_t kOneDeleteIn = 8;
// Spreads the keys over the key space; odd, so that no two keys are equal.
constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;

struct ValueHead {
  uint64_t commit;
  uint32_t index;
  uint32_t bytes;
};

}  // namespace

std::string CrashKey(uint64_t key) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>((key + 1) * kSpread));
  return text;
}

std::string CrashValue(uint64_t seed, uint64_t commit, uint32_t index,
                       uint32_t bytes) {
  std::string value(bytes, '\0');
  const ValueHead head = {commit, index, bytes};
  std::memcpy(value.data(), &head, sizeof(head));
  Random random(StreamSeed(seed ^ Mix64(commit), "crash value", index));
  for (size_t at = sizeof(head); at < value.size(); at += sizeof(uint64_t)) {
    const uint64_t word = random.Next();
    std::memcpy(value.data() + at, &word,
                std::min(sizeof(word), value.size() - at));
  }
  return value;
}

std::vector<Change> History::Add(uint32_t updates, uint32_t value_bytes) {
  sizes_.push_back(updates);
  const uint64_t commit = commits();
  Random random(StreamSeed(seed_, "crash commit", commit));
  std::vector<Change> changes;
  for (uint32_t index = 0; index < updates; ++index) {
    const uint64_t key = random.Uniform(kCrashKeys);
    std::vector<Version>& versions = versions_[key];
    const bool is_there = !versions.empty() && versions.back().is_put;
    const bool is_put = random.Uniform(kOneDeleteIn) != 0 || !is_there ||
                        value_bytes > kCrashValueBytes;
    if (!versions.empty() && versions.back().commit == commit)
      versions.back().is_last = false;
    versions.push_back({commit, index, value_bytes, is_put, true});
    changes.push_back({key, index, is_put});
  }
  return changes;
}

const Version* History::At(uint64_t key, uint64_t commit) const {
  const auto it = versions_.find(key);
  if (it == versions_.end()) return nullptr;
  const auto after = std::upper_bound(
      it->second.begin(), it->second.end(), commit,
      [](uint64_t n, const Version& version) { return n < version.commit; });
  return after == it->second.begin() ? nullptr : &*std::prev(after);
}

uint64_t History::Entries(uint64_t commit) const {
  uint64_t entries = 0;
  for (const auto& [key, versions] : versions_) {
    const Version* version = At(key, commit);
    entries += version != nullptr && version->is_put;
  }
  return entries;
}

Found History::Identify(uint64_t key,
                        std::optional<std::string_view> value) const {
  if (!value) return {};
  const std::vector<Version>& versions = versions_.at(key);
  ValueHead head{};
  if (value->size() < sizeof(head)) return {.is_foreign = true};
  std::memcpy(&head, value->data(), sizeof(head));
  const auto written =
      std::find_if(versions.begin(), versions.end(), [&](const Version& v) {
        return v.is_put && v.commit == head.commit && v.index == head.index;
      });
  if (written == versions.end() ||
      *value !=
          CrashValue(seed_, head.commit, head.index, written->value_bytes))
    return {.is_foreign = true};
  return {.version = &*written};
}

uint64_t History::Newest(uint64_t key, const Found& found) const {
  if (found.version != nullptr) return found.version->commit;
  const std::vector<Version>& versions = versions_.at(key);
  const auto deleted =
      std::find_if(versions.rbegin(), versions.rend(),
                   [](const Version& v) { return !v.is_put && v.is_last; });
  return deleted == versions.rend() ? 0 : deleted->commit;
}

Fit History::FitOf(const std::map<uint64_t, Found>& found) const {
  // fits[n]: by how many more keys fit after commit n than after n - 1.
  std::vector<int64_t> fits(commits() + 2);
  for (const auto& [key, versions] : versions_) {
    const Found& state = found.at(key);
    uint64_t since = 0;  // the state that the versions so far have left
    bool matches = !state.is_foreign && state.version == nullptr;
    for (const Version& version : versions) {
      if (!version.is_last) continue;
      if (matches) ++fits[since], --fits[version.commit];
      since = version.commit;
      matches = version.is_put ? state.version == &version
                               : !state.is_foreign && state.version == nullptr;
    }
    if (matches) ++fits[since], --fits[commits() + 1];
  }
  Fit fit;
  int64_t fitting = 0, most = -1;
  for (uint64_t n = 0; n <= commits(); ++n) {
    fitting += fits[n];
    if (fitting < most) continue;
    most = fitting;
    fit.nearest = n;
  }
  fit.misfits = versions_.size() - static_cast<uint64_t>(most);
  if (fit.misfits == 0) fit.prefix = fit.nearest;
  return fit;
}

}  // namespace kvmatrix
