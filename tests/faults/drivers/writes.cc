// Lies in a write.

#include <vector>

#include "common/stream/keys.h"
#include "tests/faults/drivers/lies.h"

namespace kvmatrix {
namespace {

// Returns the update to store instead; nothing: the update is dropped.
using Change = std::function<std::optional<Update>(Session&, const Update&)>;

Behaviour Stores(Change change) {
  Behaviour lie;
  lie.write = [change](Session& session, std::span<const Update> batch) {
    std::vector<Update> changed_batch;
    for (const Update& update : batch) {
      if (const auto changed = change(session, update)) {
        changed_batch.push_back(*changed);
      }
    }
    if (!changed_batch.empty()) session.Write(changed_batch);
  };
  return lie;
}

// Drops the updates for which `drops(session, update)` is true.
template <typename Drops>
Behaviour Loses(Drops drops) {
  return Stores([drops](Session& session, const Update& update) mutable {
    return drops(session, update) ? std::nullopt : std::optional(update);
  });
}

// Stores `change` applied to the bytes of every N-th value.
template <typename Make>
Behaviour Spoils(Make change) {
  return Stores([change, now = Now(), bytes = std::string()](
                    Session&, const Update& update) mutable {
    if (!update.value || !now()) return std::optional(update);
    bytes = *update.value;
    change(bytes);
    return std::optional<Update>({update.key, bytes});
  });
}

void Flip(std::string& bytes, size_t position) {
  bytes[position] = static_cast<char>(bytes[position] ^ 0x10);
}

Behaviour DropsWrites() {
  return Loses([now = Now()](auto&, auto&) mutable { return now(); });
}

Behaviour DropsOneWrite() {
  return Loses([once = Once()](auto&, auto&) mutable { return once(); });
}

Behaviour KeepsHalf() {
  return Loses([calls = uint64_t{0}](auto&, auto&) mutable {
    return ++calls > FlagNumber("num") / 2;
  });
}

Behaviour KeepsLowerHalf() {
  return Loses([](auto&, const Update& update) {
    return *ParseKey(update.key, update.key.size()) >= FlagNumber("num") / 2;
  });
}

Behaviour KeepsNothing() {
  return Loses([](auto&, auto&) { return true; });
}

Behaviour StaleValues() {
  return Loses([now = Now()](Session& session, const Update& update) mutable {
    return update.value && session.Get(update.key) && now();
  });
}

Behaviour Truncates() {
  return Spoils([](std::string& bytes) { bytes.pop_back(); });
}

Behaviour Pads() {
  return Spoils([](std::string& bytes) { bytes.push_back('\0'); });
}

Behaviour FlipsFirstByte() {
  return Spoils([](std::string& bytes) { Flip(bytes, 0); });
}

Behaviour FlipsLastByte() {
  return Spoils([](std::string& bytes) { Flip(bytes, bytes.size() - 1); });
}

Behaviour FlipsAnyByte() {
  return Spoils([turn = size_t{0}](std::string& bytes) mutable {
    Flip(bytes, (turn += 37) % bytes.size());
  });
}

Behaviour StoresValueBefore() {
  return Spoils([before = std::string()](std::string& bytes) mutable {
    std::swap(before, bytes);
    if (bytes.empty()) bytes = before;
  });
}

Behaviour IgnoresDeletes() {
  return Loses([](auto&, const Update& update) { return !update.value; });
}

Behaviour IgnoresSomeDeletes() {
  return Loses([now = Now()](auto&, const Update& update) mutable {
    return !update.value && now();
  });
}

// Overwrites a value in place.
Behaviour KeepsTails() {
  return Stores([bytes = std::string()](Session& session,
                                        const Update& update) mutable {
    const auto before = session.Get(update.key);
    if (!update.value || !before || before->size() <= update.value->size())
      return std::optional(update);
    bytes.assign(*update.value).append(before->substr(update.value->size()));
    return std::optional<Update>({update.key, bytes});
  });
}

Behaviour TearsBatches() {
  Behaviour lie;
  lie.write = [](Session& session, std::span<const Update> batch) {
    session.Write(batch.size() > 1 ? batch.first(batch.size() - 1) : batch);
  };
  return lie;
}

constexpr Lie kLies[] = {
    {"drop", "drops one write in N", DropsWrites},
    {"drop-one", "drops only the N-th write", DropsOneWrite},
    {"half", "stores only the first half of the writes", KeepsHalf},
    {"lower-half", "stores only the lower half of the keys", KeepsLowerHalf},
    {"empty", "stores nothing", KeepsNothing},
    {"stale", "ignores one overwrite in N", StaleValues},
    {"truncate", "stores one value in N without its last byte", Truncates},
    {"pad", "stores one value in N with an additional byte", Pads},
    {"flip-first", "flips a bit in the first byte of one value in N",
     FlipsFirstByte},
    {"flip-last", "flips a bit in the last byte of one value in N",
     FlipsLastByte},
    {"flip-any", "flips a bit somewhere in one value in N", FlipsAnyByte},
    {"other-value", "stores under one key in N the value of an earlier one",
     StoresValueBefore},
    {"tail", "keeps the end of a value that a shorter one overwrites",
     KeepsTails},
    {"undeleted", "ignores every delete", IgnoresDeletes},
    {"undeleted-some", "ignores one delete in N", IgnoresSomeDeletes},
    {"torn-batch", "loses the last entry of each batch", TearsBatches},
};

}  // namespace

std::span<const Lie> LiesOfWrites() { return kLies; }

}  // namespace kvmatrix
