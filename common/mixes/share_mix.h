// Operations in the shares that the user states: mix and readrandomwriterandom.
//
// mixes.h makes these objects; loops and replays use them as Mix.

#ifndef COMMON_MIXES_SHARE_MIX_H_
#define COMMON_MIXES_SHARE_MIX_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/mixes/mix_workload.h"
#include "common/random/permutation.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Draws the key of each operation, whatever its type, from one distribution:
// the benchmark's, or that of --key_distribution.  An update and the put of a
// read-modify-write put the record whether or not it is present.
//
// mix: --mix_shares of the operations have each type, and the keys are those of
// the --num records that ycsbload has filled.  Inserts take the records that
// follow in the order of the load; they are not drawn in the same run.
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
  // their keys.  Next() throws std::runtime_error if no record is left to
  // insert.
  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;

  // The shares, and the distribution of the keys.
  std::string Label() const override;

  bool Deletes() const override;

  // The share of each type.
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  friend class ShareStream;

  // Returns the key of a record.
  uint64_t KeyOf(uint64_t record) const {
    return order_ ? (*order_)(record) : record;
  }
  // Returns the next record to insert.  Thread-safe.
  uint64_t TakeInsert();

  const Benchmark& benchmark_;
  const Config& config_;
  const Weights weights_;
  const std::optional<Permutation> order_;  // nothing: a record is its key
  const uint64_t records_;                  // that operations draw
  std::atomic<uint64_t> next_insert_;
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_SHARE_MIX_H_
