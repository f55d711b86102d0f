// Lies in the answer to a get; what is stored is right.

#include "tests/faults/drivers/lies.h"

namespace kvmatrix {
namespace {

using Answer = std::optional<std::string_view>;

// The first entry of a scan from `start`, or nothing.
std::optional<std::string> FirstValue(Session& session,
                                      std::string_view start) {
  std::optional<std::string> found;
  session.Scan(start, Order::kForward,
               [&](std::string_view, std::string_view value) {
                 found = value;
                 return false;
               });
  return found;
}

// Returns `change` applied to every N-th value.
template <typename Make>
Behaviour Garbles(Make change) {
  Behaviour lie;
  lie.get = [change, now = Now(), bytes = std::string()](
                Session& session, std::string_view key) mutable -> Answer {
    const Answer value = session.Get(key);
    if (!value || !now()) return value;
    bytes = *value;
    change(bytes);
    return bytes;
  };
  return lie;
}

// Returns `make(session, key)` for an absent key.
template <typename Make>
Behaviour MakesUp(Make make) {
  Behaviour lie;
  lie.get = [make, buffer = std::optional<std::string>()](
                Session& session, std::string_view key) mutable -> Answer {
    if (const Answer value = session.Get(key)) return value;
    buffer = make(session, key);
    return buffer;
  };
  return lie;
}

Behaviour FlipsBit() {
  return Garbles([](std::string& bytes) { bytes.back() ^= 1; });
}

Behaviour Truncates() {
  return Garbles([](std::string& bytes) { bytes.pop_back(); });
}

Behaviour LeavesTheBuffer() {
  Behaviour lie;
  lie.get = [now = Now(), buffer = std::string()](
                Session& session, std::string_view key) mutable -> Answer {
    const Answer value = session.Get(key);
    if (value && (buffer.empty() || !now())) buffer = *value;
    return value ? Answer(buffer) : value;
  };
  return lie;
}

Behaviour Forgets() {
  Behaviour lie;
  lie.get = [now = Now()](Session& session,
                          std::string_view key) mutable -> Answer {
    return now() ? std::nullopt : session.Get(key);
  };
  return lie;
}

Behaviour FindsShorter() {
  return MakesUp(
      [](Session& session, std::string_view key) -> std::optional<std::string> {
        if (key.size() >= FlagNumber("key_size")) return std::nullopt;
        return FirstValue(session, key);
      });
}

Behaviour FindsLonger() {
  return MakesUp(
      [](Session& session, std::string_view key) -> std::optional<std::string> {
        if (key.size() <= FlagNumber("key_size")) return std::nullopt;
        return std::optional<std::string>(
            session.Get(key.substr(0, FlagNumber("key_size"))));
      });
}

Behaviour FindsAbsent() {
  return MakesUp(
      [](Session& session, std::string_view key) -> std::optional<std::string> {
        if (key.size() != FlagNumber("key_size")) return std::nullopt;
        const auto next = FirstValue(session, key);
        return next ? next : FirstValue(session, "");
      });
}

// Deleted entries remain under another name, which scans do not show.
Behaviour FindsDeleted() {
  Behaviour lie;
  lie.write = [](Session& session, std::span<const Update> batch) {
    for (const Update& update : batch) {
      if (const auto value = session.Get(update.key); value && !update.value) {
        const std::string hidden = "~" + std::string(update.key);
        const Update copy = {hidden, value};
        session.Write({&copy, 1});
      }
    }
    session.Write(batch);
  };
  lie.get = [](Session& session, std::string_view key) -> Answer {
    const Answer value = session.Get(key);
    return value ? value : session.Get("~" + std::string(key));
  };
  lie.scan = [](Session& session, std::string_view start, Order order,
                const Visitor& visit) {
    session.Scan(start, order, [&](auto key, auto value) {
      return key.starts_with('~') || visit(key, value);
    });
  };
  return lie;
}

constexpr Lie kLies[] = {
    {"get-flip", "answers one get in N with a bit flipped", FlipsBit},
    {"get-truncate", "answers one get in N without the last byte", Truncates},
    {"get-buffer",
     "answers one get in N with OK but does not change the buffer",
     LeavesTheBuffer},
    {"get-forget", "does not find one key in N", Forgets},
    {"get-shorter", "finds a key whose last byte is missing", FindsShorter},
    {"get-longer", "finds a key that has an additional byte", FindsLonger},
    {"get-absent", "finds keys that were never written", FindsAbsent},
    {"get-deleted", "still finds deleted entries", FindsDeleted},
};

}  // namespace

std::span<const Lie> LiesOfGets() { return kLies; }

}  // namespace kvmatrix
