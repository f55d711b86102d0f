// The side of a crash test that writes, until it ends or is ended.

#ifndef COMMON_CRASH_WRITER_H_
#define COMMON_CRASH_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/crash/crash_flags.h"
#include "common/crash/history.h"
#include "common/crash/phases.h"
#include "common/crash/reader.h"
#include "common/crash/trace.h"
#include "common/driver.h"
#include "common/spec/config.h"
#include "common/timing/clock.h"

namespace kvmatrix {

// The options of every database of a crash test.
Options CrashOptions(const Config& config);

class Writer {
 public:
  // Replaces the trace.  Throws UsageError for phases that are not valid.
  Writer(const Driver& driver, const Config& config, const CrashFlags& flags);

  // Opens the database.  Throws Unsupported or what the engine throws.
  void Open();

  // Returns one line of JSON: what the engine is, and what it promises.
  // REQUIRES: Open() has returned
  std::string Description();

  // Performs all phases and closes the database.  Throws what the engine
  // throws, after recording that it has.
  void Run();

  // Returns the call of the engine that was made last, for an error.
  std::string_view last_call() const { return call_; }

 private:
  void RunPhase(const Phase& phase);
  void RunSingle(uint64_t commits, uint32_t value_bytes = kCrashValueBytes);
  void RunBatches(uint64_t commits);
  void RunCover(uint64_t rounds);
  void RunFill(uint64_t commits);
  void RunRead(uint64_t commits);
  // Opens the database for so many sessions at once.
  void OpenFor(uint64_t threads);
  void SetDurable(bool durable);
  void Commit(uint32_t updates, uint32_t value_bytes);
  void Close();
  void Add(TraceKind kind, TraceRecord record = {});
  // Records the end of the writer, which is left to others.
  [[noreturn]] void WaitForEnd();

  const Driver& driver_;
  const Options options_;
  const CrashFlags flags_;
  const std::vector<Phase> phases_;
  Trace trace_;
  History history_;
  uint32_t phase_ = 0;
  bool durable_;
  SteadyClock clock_;
  uint64_t last_write_ns_ = 0;  // how long the last commit took
  const char* call_ = "open";
  Reader* reader_ = nullptr;  // not null: is to see each commit, a single put
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

}  // namespace kvmatrix

#endif  // COMMON_CRASH_WRITER_H_
