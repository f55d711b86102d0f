// A mix as one benchmark: what its threads share, and the operations of each.

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
// The oracle's final record is a function of how many operations each thread
// has done, whatever their interleaving: no mix both inserts and updates.
// Inserted is a run of ordinals, as many as the threads' own streams have
// inserts, whoever took which; and where nothing is inserted, what a thread
// updates is decided by its stream alone.  (Where a size is part of the
// record, there is one thread.)
class Mix {
 public:
  virtual ~Mix() = default;

  // The operations of one thread.  Thread-safe.
  virtual std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) = 0;

  // What an update does, the request distribution and what else the name of the
  // mix does not say; for the line of its result.
  virtual std::string Label() const { return ""; }

  // True if an update gets the entry before it puts it.
  virtual bool UpdatesGet() const { return false; }

  // What the stream of a thread gives in so many operations, beside theory.
  virtual std::vector<Share> Shares(uint64_t stream_seed,
                                    uint64_t operations) const = 0;

  // Records what a thread has done, in the oracle of the mix.
  void Replay(uint64_t stream_seed, const ThreadShare& thread_share,
              uint64_t operations);

 protected:
  explicit Mix(Oracle& oracle) : oracle_(oracle) {}

  Oracle& oracle_;
};

// Of each operation with a weight, its share of the `counts`.
void AddTypeShares(const Weights& weights, const Weights& counts,
                   std::vector<Share>& shares);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_MIX_WORKLOAD_H_
