// A mix as one benchmark: the state that its threads share, and a stream of
// operations for each of them.

#ifndef COMMON_MIXES_MIX_WORKLOAD_H_
#define COMMON_MIXES_MIX_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/mixes/mix.h"
#include "common/oracle/oracle.h"
#include "common/random/thread_share.h"
#include "common/recording/loop_result.h"

namespace kvmatrix {

// One run of a mix, or its replay.
//
// After a run the oracle is a function of the number of operations of each
// thread, whatever their interleaving, because no mix updates or deletes what
// it has inserted itself.  Inserted records are a run of ordinals, as many as
// the threads' streams contain inserts, whichever thread took which.  What a
// thread updates is determined by its own stream; a mix that also deletes gives
// each thread records of its own to write.  (Where value sizes are recorded,
// there is only one thread.)
class Mix {
 public:
  virtual ~Mix() = default;

  // Returns the operations of one thread; the mix outlives them.  Thread-safe.
  virtual std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) = 0;

  // Returns what the name of the mix leaves open, such as its request
  // distribution, for the line of its result.
  virtual std::string Label() const { return ""; }

  // True if an update gets the entry before it puts it.
  virtual bool UpdatesGet() const { return false; }

  // True if some operations are deletes.
  virtual bool Deletes() const { return false; }

  // Returns properties of the first `operations` operations of a thread's
  // stream next to their expectation.
  virtual std::vector<Share> Shares(uint64_t stream_seed,
                                    uint64_t operations) const = 0;

  // Records the `operations` operations of a thread in the oracle without
  // performing them.  The threads of a run are replayed one after another on
  // the same Mix.
  // REQUIRES: no other thread uses the oracle
  void Replay(uint64_t stream_seed, const ThreadShare& thread_share,
              uint64_t operations);

 protected:
  // `oracle` outlives the mix.
  explicit Mix(Oracle& oracle) : oracle_(oracle) {}

  // Gives the oracle its table, which may grow if there are inserts among
  // operations of these weights.
  void UseTable(const Weights& weights);

  Oracle& oracle_;
};

// Appends the share of each operation that has a weight, given the `counts` of
// all, which are numbers of operations.  Appends nothing if they are all 0.
void AddTypeShares(const Weights& weights, const Weights& counts,
                   std::vector<Share>& shares);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIX_WORKLOAD_H_
