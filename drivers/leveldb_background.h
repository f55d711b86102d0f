// Waits until LevelDB's own background work has ended.
//
// LevelDB has no call for that, and its properties do not show a compaction
// that is running.  But it starts all background work through Env::Schedule():
// the write of a full memtable, and each compaction as soon as it is due, while
// it holds its mutex and before the job that found it due has returned
// (MaybeScheduleCompaction() in db/db_impl.cc).  So there is none exactly while
// every scheduled job has returned.
//
//   BackgroundWork work;
//   options.env = work.env();
//   ... DB::Open(options, ...) ...
//   work.Wait();
//
// The class of the environment is hidden because its source is compiled without
// RTTI, as LevelDB is by its own build.

#ifndef DRIVERS_LEVELDB_BACKGROUND_H_
#define DRIVERS_LEVELDB_BACKGROUND_H_

#include <memory>

#include "leveldb/env.h"

namespace kvmatrix {

// Thread-safe.
class BackgroundWork {
 public:
  BackgroundWork();
  // REQUIRES: no database uses env()
  ~BackgroundWork();

  // Returns the default environment, which counts scheduled jobs in addition.
  // A database that uses it must not outlive this object.
  leveldb::Env* env() const;

  // True if no job is running or waiting to run.
  bool IsIdle() const;

  // Blocks until IsIdle().  After a background error LevelDB schedules nothing
  // more, so this returns then too.
  void Wait() const;

 private:
  class CountingEnv;
  const std::unique_ptr<CountingEnv> env_;
};

}  // namespace kvmatrix

#endif  // DRIVERS_LEVELDB_BACKGROUND_H_
