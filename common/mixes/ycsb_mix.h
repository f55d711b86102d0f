// YCSB's workloads as mixes.  Their definitions are in ycsb.h.
//
// mixes.h makes these objects; loops and replays use them as Mix.

#ifndef COMMON_MIXES_YCSB_MIX_H_
#define COMMON_MIXES_YCSB_MIX_H_

#include <memory>
#include <string>
#include <vector>

#include "common/mixes/key_space.h"
#include "common/mixes/mix_workload.h"
#include "common/mixes/ycsb.h"
#include "common/spec/benchmark.h"
#include "common/spec/config.h"

namespace kvmatrix {

// The records of a mix that may insert more: their keys, and which of them are
// taken and present.  All threads of a run share it.  Thread-safe.
class YcsbRecords {
 public:
  // Starts with `present` records.  `oracle` knows which are present, and grows
  // with them; null: each is at once.  The references outlive the object.
  YcsbRecords(const RecordOrder& order, uint64_t present, const Config& config,
              Oracle* oracle);

  // Returns the key of the next record to insert.  Throws std::runtime_error if
  // there is no such key, or no memory to record it.
  uint64_t Insert();

  // Called when an inserted record is in the database and the oracle.
  void Acknowledge();

  // The records with an ordinal below this are present.
  uint64_t present() const { return inserts_.acknowledged(); }

  uint64_t KeyOf(uint64_t ordinal) const { return order_(ordinal); }

 private:
  const RecordOrder& order_;
  const uint64_t capacity_;  // keys that have bytes
  Oracle* const oracle_;
  YcsbInserts inserts_;
};

// Throws std::runtime_error, which says how to load the database, unless the
// oracle says that ycsbload has put the first `records` records, under the
// --num, --seed and --insert_order of `config`.  They may have been deleted
// since.
// REQUIRES: oracle.UseTable() was called
void RequireYcsbLoad(const Config& config, const Oracle& oracle,
                     const RecordOrder& order, uint64_t records);

// Returns a chooser for a run that starts with `records` records.
YcsbChooser ChooserOf(YcsbRequest request, uint64_t records,
                      const Weights& weights, const Config& config);

// One of the workloads A to F.  Needs a database that ycsbload has filled under
// the same --num, --seed and --insert_order.
//
// What the streams of several threads share is which records have been
// inserted, and only that is written during a run.
class YcsbMix final : public Mix {
 public:
  // Gives the oracle its table.  The arguments outlive the mix.  Throws
  // std::runtime_error, which says how to load the database, if it is not such
  // a one: another key space or order of records, fewer than three of them, or
  // a load that stopped early on several threads.
  // REQUIRES: FindYcsb(benchmark.name) is not null; CheckRules(config) did not
  // throw
  YcsbMix(const Benchmark& benchmark, const Config& config, Oracle& oracle);

  // Next() throws std::runtime_error if no key is left to insert.  All streams
  // may draw an inserted record once Done() has been called for it and for
  // those inserted before it; see YcsbInserts.
  std::unique_ptr<MixStream> NewStream(
      uint64_t stream_seed, const ThreadShare& thread_share) override;

  bool UpdatesGet() const override;

  // The request distribution, how updates are done, and a note if --value_size
  // is not the size of YCSB's records.
  std::string Label() const override;

  // The share of each type, the share of lookups that fall on some frequent
  // records (see CheckedRecords), and the mean scan length.  Draws from streams
  // of its own and leaves those of the run alone; memory and time are bounded
  // for any number of records.
  std::vector<Share> Shares(uint64_t stream_seed,
                            uint64_t operations) const override;

 private:
  // Each stream has a chooser of its own, because "latest" has state.
  YcsbChooser NewChooser() const;

  const Benchmark& benchmark_;
  const Config& config_;
  const YcsbWorkload& workload_;
  const YcsbRequest request_;
  const RecordOrder order_;
  const uint64_t at_start_;  // records
  YcsbRecords records_;      // of all threads
};

}  // namespace kvmatrix

#endif  // COMMON_MIXES_YCSB_MIX_H_
