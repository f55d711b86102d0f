#include "common/crash/audit.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/crash/history.h"
#include "common/crash/survivors.h"
#include "common/crash/trace.h"
#include "common/crash/writer.h"
#include "common/timing/clock.h"

namespace kvmatrix {
namespace {

constexpr int kProbes = 3;

// What a trace says of a cut.
struct Before {
  History history;            // of the commits begun before the end of the cut
  uint64_t acknowledged = 0;  // the last one before the cut
  // All of these are commits that were acknowledged before the cut.
  std::vector<uint64_t> durable = {};
  uint64_t last_buffered = 0;
  std::optional<uint64_t> covering = {};  // durable, after a buffered one
  std::vector<uint64_t> seen = {};  // commits that another thread had read
};

Before ReadBefore(const CrashFlags& flags) {
  const std::vector<TraceRecord> records = ReadTrace(flags.trace);
  Before before = {.history = History(records[0].commit)};
  for (const TraceRecord& record : records) {
    if (record.kind == TraceKind::kCommitBegins &&
        record.at_ns < flags.cut_end_ns) {
      before.history.Add(record.updates, record.value_bytes);
      if (before.history.commits() != record.commit)
        throw std::runtime_error("the trace lacks a commit");
    } else if (record.kind == TraceKind::kAcknowledged &&
               record.at_ns <= flags.cut_ns) {
      before.acknowledged = record.commit;
      if (!record.durable) {
        before.last_buffered = record.commit;
        continue;
      }
      before.durable.push_back(record.commit);
      if (before.last_buffered != 0) before.covering = record.commit;
    } else if (record.kind == TraceKind::kSeen &&
               record.at_ns <= flags.cut_ns) {
      before.seen.push_back(record.commit);
    }
  }
  return before;
}

// Returns how many batches are there in part.
uint64_t TornBatches(const History& history,
                     const std::map<uint64_t, Found>& found) {
  struct Parts {
    bool is_there = false, is_absent = false;
  };
  std::vector<Parts> batches(history.commits() + 1);
  for (const auto& [key, versions] : history.versions()) {
    const Found& state = found.at(key);
    if (state.is_foreign) continue;
    const uint64_t newest = history.Newest(key, state);
    for (const Version& version : versions) {
      if (!version.is_last || history.updates(version.commit) == 1) continue;
      batches[version.commit].is_absent |= newest < version.commit;
      batches[version.commit].is_there |= state.version == &version;
    }
    // A value that the same batch overwrites.
    if (state.version != nullptr && !state.version->is_last)
      batches[state.version->commit] = {true, true};
  }
  return static_cast<uint64_t>(
      std::count_if(batches.begin(), batches.end(),
                    [](Parts b) { return b.is_there && b.is_absent; }));
}

// Returns whether nothing of commits `first` to `last` is lost.
bool AreThere(const History& history, const std::map<uint64_t, Found>& found,
              uint64_t first, uint64_t last) {
  return std::all_of(found.begin(), found.end(), [&](const auto& entry) {
    const Version* wanted = history.At(entry.first, last);
    return wanted == nullptr || wanted->commit < first ||
           history.Newest(entry.first, entry.second) >= wanted->commit;
  });
}

std::string Words(const Version* version) {
  if (version == nullptr) return "absent, as before all commits";
  const std::string commit = std::to_string(version->commit);
  return version->is_put ? "the value of commit " + commit
                         : "absent, as commit " + commit + " deleted it";
}

// Returns how the first key that is not as after a commit differs.
std::string FirstProblem(const History& history, const Survivors& survivors,
                         uint64_t commit) {
  for (const auto& [key, found] : survivors.keys) {
    const Version* wanted = history.At(key, commit);
    const bool is_put = wanted != nullptr && wanted->is_put;
    if (!found.is_foreign && found.version == (is_put ? wanted : nullptr))
      continue;
    std::string is = found.is_foreign ? "a value that was never written"
                     : found.version == nullptr ? "absent"
                                                : Words(found.version);
    return "key " + CrashKey(key) + ": expected " + Words(wanted) +
           ", found: " + is;
  }
  return survivors.difference;
}

class Audit {
 public:
  Audit(const Driver& driver, const Config& config, const CrashFlags& flags)
      : driver_(driver),
        options_(CrashOptions(config)),
        before_(ReadBefore(flags)) {}

  nlohmann::json Run() {
    const History& history = before_.history;
    json_ = {{"acknowledged", before_.acknowledged},
             {"begun", history.commits()},
             {"expected_entries", history.Entries(before_.acknowledged)},
             {"open_error", ""},
             {"read_error", ""},
             {"write_error", ""},
             {"reopen_error", ""},
             {"first_problem", ""}};
    SteadyClock clock;
    const uint64_t start_ns = clock.NowNs();
    if (!Try("open_error", [&] { Open(); })) return json_;
    json_["open_ns"] = clock.NowNs() - start_ns;
    Survivors survivors;
    if (!Try("read_error",
             [&] { survivors = ReadSurvivors(*session_, history); })) {
      return json_;
    }
    Judge(survivors);
    if (Try("write_error", [&] { Write(); }))
      Try("reopen_error", [&] { CompareAgain(survivors); });
    return json_;
  }

 private:
  // Records what a call of the engine throws, after which nothing else is
  // called.
  bool Try(const char* name, const std::function<void()>& call) {
    try {
      call();
      return true;
    } catch (const std::exception& error) {
      json_[name] =
          error.what()[0] == '\0' ? "an error without a message" : error.what();
      session_.reset();
      database_.reset();
      return false;
    }
  }

  void Open() {
    database_ = driver_.open(options_);
    session_ = database_->NewSession();
  }

  void Judge(const Survivors& survivors) {
    const History& history = before_.history;
    const Fit fit = history.FitOf(survivors.keys);
    uint64_t resurrected = 0;
    for (const auto& [key, found] : survivors.keys) {
      const Version* wanted = history.At(key, fit.nearest);
      resurrected +=
          wanted != nullptr && !wanted->is_put && found.version != nullptr;
    }
    json_["entries"] = survivors.entries;
    json_["foreign"] = survivors.foreign;
    json_["read_error"] = survivors.difference;
    json_["missing"] = fit.misfits;
    json_["resurrected"] = resurrected;
    json_["prefix"] = nullptr;
    if (fit.prefix) json_["prefix"] = *fit.prefix;
    json_["torn_batches"] =
        fit.prefix ? 0 : TornBatches(history, survivors.keys);
    json_["lost"] = Lost(fit);
    json_["dirty_reads"] = DirtyReads(fit);
    JudgeCovering(survivors, fit);
    if (!fit.prefix || json_["lost"] != 0)
      json_["first_problem"] = FirstProblem(
          history, survivors, fit.prefix ? before_.acknowledged : fit.nearest);
  }

  void JudgeCovering(const Survivors& survivors, const Fit& fit) {
    json_["covered"] = json_["covering_lost"] = nullptr;
    if (!before_.covering) return;
    const uint64_t covering = *before_.covering;
    // A key that a later commit deletes is absent before the durable one too.
    const bool is_before = fit.prefix && *fit.prefix < covering;
    const bool is_there =
        !is_before &&
        AreThere(before_.history, survivors.keys, covering, covering);
    json_["covering_lost"] = !is_there;
    if (is_there)
      json_["covered"] = AreThere(before_.history, survivors.keys, 1, covering);
  }

  // Returns how many commits were read by others, not acknowledged, and are
  // lost.
  uint64_t DirtyReads(const Fit& fit) const {
    if (!fit.prefix) return 0;
    return static_cast<uint64_t>(std::count_if(
        before_.seen.begin(), before_.seen.end(), [&](uint64_t commit) {
          return commit > before_.acknowledged && commit > *fit.prefix;
        }));
  }

  uint64_t Lost(const Fit& fit) const {
    if (options_.durability != Durability::kDurable)
      return before_.acknowledged - std::min(before_.acknowledged, fit.nearest);
    return static_cast<uint64_t>(
        std::count_if(before_.durable.begin(), before_.durable.end(),
                      [&](uint64_t commit) { return commit > fit.nearest; }));
  }

  void Write() {
    for (int i = 0; i < kProbes; ++i) {
      const std::string key = ProbeKey(i);
      session_->Write(std::vector<Update>{{key, "after recovery"}});
      if (session_->Get(key) != "after recovery")
        throw std::runtime_error("a write after recovery cannot be read");
    }
  }

  void CompareAgain(const Survivors& survivors) {
    session_.reset();
    database_->Close();
    database_.reset();
    Open();
    for (int i = 0; i < kProbes; ++i)
      if (session_->Get(ProbeKey(i)) != "after recovery")
        throw std::runtime_error("a write after recovery is lost");
    const Survivors again = ReadSurvivors(*session_, before_.history);
    if (!again.difference.empty()) throw std::runtime_error(again.difference);
    for (const auto& [key, found] : survivors.keys)
      if (again.keys.at(key).version != found.version)
        throw std::runtime_error("key " + CrashKey(key) +
                                 " has changed in another opening");
    session_.reset();
    database_->Close();
    database_.reset();
  }

  static std::string ProbeKey(int number) {
    return std::string(kProbePrefix) + std::to_string(number);
  }

  const Driver& driver_;
  const Options options_;
  const Before before_;
  nlohmann::json json_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

}  // namespace

std::string AuditCrash(const Driver& driver, const Config& config,
                       const CrashFlags& flags) {
  return Audit(driver, config, flags)
             .Run()
             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace kvmatrix
