// Operations in the shares that the user states: mix and readrandomwriterandom.
//
// mixes.h makes these objects; loops and replays use them as Mix.

#ifndef COMMON_MIXES_SHARE_MIX_H_
#define COMMON_MIXES_SHARE_MIX_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/mixes/key_space.h"
#include "common/mixes/mix_workload.h"
#include "common/mixes/ycsb_mix.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Draws the key of each operation, whatever its type, from one distribution:
// the benchmark's, or that of --key_distribution.  An update and the put of a
// read-modify-write put the record whether or not it is present.
//
// mix: --mix_shares of the operations have each type, and the keys are those of
// the --num records that ycsbload has filled.  Inserts take the records that
// follow in the order of the load.  If there are inserts and the distribution
// is one of those that follow them (DrawsInserted()), operations that do not
// write draw among all records present, as in YCSB.
//
// readrandomwriterandom: --readwritepercent % of the operations are gets and
// the others puts.  Keys are drawn from the whole key space of a database that
// any benchmark has filled: if it is not full, some gets must find nothing.
//
// With several threads each one writes only the records that ThreadShare::OwnOf
// gives it, and reads all of them.  So the contents at the end do not depend on
// the interleaving, and no thread waits for another.
class ShareMix final : public Mix {
 public:
  // Gives the oracle its table.  The arguments outlive the mix.  Throws
  // std::runtime_error, which says how to load the database, if mix does not
  // find the records of ycsbload.
  ShareMix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  // A stream draws 32 operations ahead, to prefetch the oracle's entries of
  // their keys, except for keys that depend on what has been inserted.  Next()
  // throws std::runtime_error if no record is left to insert.
  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;

  // The shares, the distribution of the keys, and the lengths of scans if they
  // are drawn.
  std::string Label() const override;

  bool UpdatesGet() const override;
  bool Deletes() const override;

  // The share of each type, that of frequent records where operations draw
  // inserted ones (otherwise the key stream's shares are those of the keys),
  // and the mean length of scans if it is drawn.
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  friend class ShareStream;

  const Benchmark& benchmark_;
  const Config& config_;
  const Weights weights_;
  const uint64_t drawn_;  // records that operations draw, inserted ones aside
  const std::optional<RecordOrder> order_;  // nothing: a record is its key
  uint64_t at_start_ = 0;               // records, with those of earlier runs
  std::optional<YcsbRecords> records_;  // of all threads; of mix
};

// True if the benchmark is a mix whose reads and scans draw records that it has
// inserted too.
bool DrawsInserted(const Benchmark& benchmark, const Config& config);

}  // namespace kvmatrix

#endif  // COMMON_MIXES_SHARE_MIX_H_
