#include "common/crash/writer.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <system_error>

#include "common/spec/durability.h"
#include "common/timing/barriers.h"

namespace kvmatrix {
namespace {

constexpr uint32_t kBatchUpdates = 100;
constexpr uint32_t kGrowthBytes = 4096;
constexpr uint32_t kFillUpdates = 10;
// Of phase "cover": buffered commits before a file must have changed, at most
// if none does, and after it.
constexpr int kFewestBuffered = 20;
constexpr int kMostBuffered = 1500;
constexpr int kBufferedAfter = 3;
// Of a commit that is always a put, whose value shows that it is there.
constexpr uint32_t kPutBytes = kCrashValueBytes + 1;

// Returns the paths of all files; a new log or table adds one.
std::set<std::string> FilesIn(const std::filesystem::path& folder) {
  std::set<std::string> files;
  std::error_code error;  // a file may disappear meanwhile
  for (std::filesystem::recursive_directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    files.insert(it->path().string());
  }
  return files;
}

// Kills this process at a random moment of the next `span_ns`.
void KillWithin(uint64_t span_ns) {
  const double share = std::random_device()() * 0x1p-32;
  const auto due_ns = static_cast<uint64_t>(share * span_ns) + 1;
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  itimerspec due = {};
  due.it_value.tv_sec = static_cast<time_t>(due_ns / 1'000'000'000);
  due.it_value.tv_nsec = static_cast<long>(due_ns % 1'000'000'000);
  timer_t timer = {};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &due, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "timer");
  }
}

}  // namespace

Options CrashOptions(const Config& config) {
  return {.path = config.db,
          .cache_size = config.cache_size,
          .compression = config.compression,
          .durability = config.durability,
          .threads = 1,
          .expected_entries = kCrashKeys,
          .key_size = CrashKey(0).size(),
          .value_size = kCrashValueBytes};
}

Writer::Writer(const Driver& driver, const Config& config,
               const CrashFlags& flags)
    : driver_(driver),
      options_(CrashOptions(config)),
      flags_(flags),
      phases_(ParsePhases(flags.phases)),
      trace_(flags.trace, config.seed),
      history_(config.seed),
      durable_(config.durability == Durability::kDurable) {}

void Writer::Open() { OpenFor(1); }

void Writer::OpenFor(uint64_t threads) {
  call_ = "open";
  Add(TraceKind::kOpenBegins);
  Options options = options_;
  options.threads = threads;
  database_ = driver_.open(options);
  session_ = database_->NewSession();
  Add(TraceKind::kOpened);
}

std::string Writer::Description() {
  const auto level = static_cast<size_t>(options_.durability);
  const Guarantee guarantee = driver_.guarantees().at(level);
  nlohmann::json json = {
      {"engine", driver_.name},
      {"version", driver_.version()},
      {"licence", driver_.licence},
      {"promise", PromiseText(guarantee.promise.value())},
      {"source", guarantee.source},
      {"settings", database_->EffectiveSettings()},
      {"mixes_durability", driver_.mixes_durability},
      {"counts_barriers", !driver_.hides_barriers},
      {"batch_size_limit", database_->GetLimits().batch_size.max}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

void Writer::Run() {
  try {
    for (phase_ = 0; phase_ < phases_.size(); ++phase_) {
      const uint64_t barriers = Barriers();
      const uint64_t commits = history_.commits();
      Add(TraceKind::kPhaseBegins);
      RunPhase(phases_[phase_]);
      Add(TraceKind::kPhaseEnds,
          {.commit = Barriers() - barriers,
           .extra = static_cast<uint32_t>(history_.commits() - commits)});
    }
    --phase_;
    Close();
    Add(TraceKind::kDone);
  } catch (...) {
    Add(TraceKind::kFailed, {.commit = history_.commits()});
    throw;
  }
}

void Writer::RunPhase(const Phase& phase) {
  switch (phase.kind) {
    case PhaseKind::kFirst:
      RunSingle(phase.count);
      Close();
      return Open();
    case PhaseKind::kSingle:
      return RunSingle(phase.count);
    case PhaseKind::kBatch:
      return RunBatches(phase.count);
    case PhaseKind::kCover:
      return RunCover(phase.count);
    case PhaseKind::kGrowth:
      return RunSingle(phase.count, kGrowthBytes);
    case PhaseKind::kSettle:
      call_ = "flush";
      database_->Flush();
      call_ = "settle";
      database_->Settle();
      return RunSingle(phase.count);
    case PhaseKind::kCompact:
      call_ = "compact";
      try {
        database_->Compact();
      } catch (const Unsupported&) {
        // The commits follow nothing then, which is a state like others.
      }
      return RunSingle(phase.count);
    case PhaseKind::kClose:
      Close();
      Open();
      return RunSingle(phase.count);
    case PhaseKind::kFill:
      return RunFill(phase.count);
    case PhaseKind::kRead:
      return RunRead(phase.count);
  }
}

void Writer::RunSingle(uint64_t commits, uint32_t value_bytes) {
  for (uint64_t i = 0; i < commits; ++i) Commit(1, value_bytes);
}

void Writer::RunBatches(uint64_t commits) {
  if (database_->GetLimits().batch_size.max < kBatchUpdates) return;
  for (uint64_t i = 0; i < commits; ++i)
    Commit(kBatchUpdates, kCrashValueBytes);
}

void Writer::RunCover(uint64_t rounds) {
  // Where each write is durable, none has to cover others.
  if (durable_ || !driver_.mixes_durability) return;
  std::set<std::string> files = FilesIn(options_.path);
  const auto is_changed = [&files, this] {
    std::set<std::string> before = FilesIn(options_.path);
    files.swap(before);
    return files != before;
  };
  int most = kMostBuffered;
  for (uint64_t round = 0; round < rounds; ++round) {
    is_changed();  // by the round before
    bool has_changed = false;
    for (int i = 0; i < most && !(has_changed && i >= kFewestBuffered); ++i) {
      Commit(1, kCrashValueBytes);
      if (has_changed || !is_changed()) continue;
      has_changed = true;
      Add(TraceKind::kFilesChanged);
    }
    if (!has_changed) most = kFewestBuffered;  // nor will it later
    for (int i = 0; i < kBufferedAfter; ++i) Commit(1, kCrashValueBytes);
    SetDurable(true);
    Commit(1, kPutBytes);
    SetDurable(false);
  }
}

void Writer::RunFill(uint64_t commits) {
  const uint64_t most = database_->GetLimits().batch_size.max;
  const uint32_t updates = most < kFillUpdates ? 1 : kFillUpdates;
  for (uint64_t i = 0; i < commits; ++i) Commit(updates, kGrowthBytes);
}

void Writer::RunRead(uint64_t commits) {
  if (!durable_) return;  // others may lose whatever was read
  Close();
  try {
    OpenFor(2);
  } catch (const Unsupported&) {
    return Open();
  }
  Reader reader(*database_, [this](uint64_t commit) {
    Add(TraceKind::kSeen, {.commit = commit});
  });
  reader_ = &reader;
  for (uint64_t i = 0; i < commits; ++i) Commit(1, kPutBytes);
  reader_ = nullptr;
  reader.Stop();
  Close();
  Open();
}

void Writer::SetDurable(bool durable) {
  call_ = "write";
  session_->SetDurable(durable);
  durable_ = durable;
}

void Writer::Commit(uint32_t updates, uint32_t value_bytes) {
  call_ = "write";
  const std::vector<Change> changes = history_.Add(updates, value_bytes);
  const uint64_t commit = history_.commits();
  std::vector<std::string> texts;  // that the views refer to
  texts.reserve(2 * changes.size());
  std::vector<Update> batch;
  uint32_t puts = 0;
  for (const Change& change : changes) {
    const std::string_view key = texts.emplace_back(CrashKey(change.key));
    if (!change.is_put) {
      batch.push_back({key, std::nullopt});
      continue;
    }
    ++puts;
    batch.push_back(
        {key, texts.emplace_back(CrashValue(history_.seed(), commit,
                                            change.index, value_bytes))});
  }
  const TraceRecord record = {.commit = commit,
                              .updates = updates,
                              .value_bytes = value_bytes,
                              .durable = durable_,
                              .extra = puts};
  if (reader_ != nullptr)
    reader_->Expect(commit, batch.at(0).key, batch.at(0).value.value());
  Add(TraceKind::kCommitBegins, record);
  if (commit == flags_.crash_within) KillWithin(last_write_ns_);
  const uint64_t start_ns = clock_.NowNs();
  session_->Write(batch);
  last_write_ns_ = clock_.NowNs() - start_ns;
  Add(TraceKind::kAcknowledged, record);
  if (commit == flags_.crash_after) WaitForEnd();
}

void Writer::Close() {
  call_ = "close";
  Add(TraceKind::kCloseBegins);
  session_.reset();
  database_->Close();
  database_.reset();
  Add(TraceKind::kClosed);
}

void Writer::Add(TraceKind kind, TraceRecord record) {
  record.kind = kind;
  record.phase = phase_;
  trace_.Add(record);
}

void Writer::WaitForEnd() {
  Add(TraceKind::kReady);
  for (;;) pause();
}

}  // namespace kvmatrix
