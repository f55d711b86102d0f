#include "common/mixes/read_write_mix.h"

#include <array>
#include <utility>

#include "common/stream/from_config.h"
#include "common/stream/key_stream.h"

namespace kvmatrix {
namespace {

// Types come from a stream of their own, so that whether a key is read or
// written is independent of the key.
class ReadWriteStream final : public MixStream {
 public:
  // `oracle` outlives the stream.
  ReadWriteStream(const KeyStream& keys, uint64_t types_seed, uint64_t percent,
                  const Oracle& oracle)
      : oracle_(oracle), keys_(keys), types_(types_seed), percent_(percent) {
    for (uint64_t& key : ahead_) key = keys_.Next();
  }

  MixStep Next() override {
    const uint64_t key = std::exchange(ahead_[next_], keys_.Next());
    oracle_.Prefetch(ahead_[next_]);
    next_ = (next_ + 1) % ahead_.size();
    const bool reads = types_.Uniform(100) < percent_;
    return {reads ? Operation::kRead : Operation::kUpdate, key};
  }

 private:
  const Oracle& oracle_;
  KeyStream keys_;
  Random types_;
  const uint64_t percent_;  // of the operations that read

  // Drawn early, to prefetch their entries in the oracle.
  std::array<uint64_t, 32> ahead_;
  size_t next_ = 0;
};

}  // namespace

ReadWriteMix::ReadWriteMix(const Benchmark& benchmark, const Config& config,
                           Oracle& oracle)
    : Mix(oracle), benchmark_(benchmark), config_(config) {
  oracle.UseTable();
}

std::unique_ptr<MixStream> ReadWriteMix::NewStream(
    uint64_t stream_seed, const ThreadShare& thread_share) {
  return std::make_unique<ReadWriteStream>(
      KeyStream(DrawOf(benchmark_, config_, nullptr), oracle_.key_space(),
                stream_seed, thread_share),
      StreamSeed(thread_share.SeedOf(stream_seed), "operations", 0),
      config_.readwritepercent, oracle_);
}

}  // namespace kvmatrix
