// Keys and updates prepared a block ahead, so that their preparation is not
// part of the time of a call.
//
// A block fits into the first-level cache unless a single batch is larger.  It
// allocates memory in its constructor only.  A loop alternates between
// preparing a block and using it:
//
//   block.Fill(size);
//   w.meter.ExcludePreparation();
//   for each batch:
//     session.Write(block.Range(done, count));
//     done += count;
//   block.ReturnUnwritten(done);

#ifndef COMMON_LOOPS_BLOCKS_H_
#define COMMON_LOOPS_BLOCKS_H_

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "common/driver.h"
#include "common/oracle/check.h"
#include "common/oracle/oracle.h"
#include "common/oracle/write_stream.h"
#include "common/stream/key_stream.h"
#include "common/stream/keys.h"
#include "common/stream/values.h"

namespace kvmatrix {

// Returns the number of entries of a block: small enough to stay in the
// first-level cache next to the engine's data, and large enough that the meter
// is seldom called for it.  8 KiB are a quarter of a cache of 32 KiB.
// From 1 to 64.
// REQUIRES: entry_bytes > 0
constexpr size_t BlockEntries(size_t entry_bytes) {
  constexpr size_t kBlockBytes = 8192;
  constexpr size_t kMaxEntries = 64;
  return std::clamp<size_t>(kBlockBytes / entry_bytes, 1, kMaxEntries);
}

// The next updates of a WriteStream, generated and recorded in the oracle
// before they are written.  The records run ahead of the engine by up to a
// block, which is why the keys must be ones that no other thread writes or
// reads meanwhile, and why ReturnUnwritten() exists.
//
// Not thread-safe: each thread has its own.
class UpdateBlock {
 public:
  // Holds whole batches, at least one, and as many as BlockEntries() allows.
  // If `deletes`, the updates have no values and no memory is reserved for
  // them.  `stream` and `values` must outlive the block.
  // REQUIRES: batch_size > 0; `deletes` is true exactly if the stream's
  // benchmark deletes
  UpdateBlock(WriteStream& stream, const Values& values, KeyShape keys,
              size_t batch_size, bool deletes)
      : stream_(stream),
        values_(values),
        writer_(keys),
        value_stride_(deletes ? 0 : values.buffer_size()),
        packed_(!deletes && !values.sizes().fixed()),
        steps_(
            std::max<size_t>(
                BlockEntries(keys.size() + MeanValueBytes()) / batch_size, 1) *
            batch_size),
        keys_(steps_.size() * keys.size(), keys.pad()),
        bytes_(steps_.size() * value_stride_),
        updates_(steps_.size()) {
    for (size_t i = 0; i < updates_.size(); ++i) {
      updates_[i].key = {keys_.data() + i * keys.size(), keys.size()};
      if (deletes) continue;
      updates_[i].value = {bytes_.data() + i * value_stride_,
                           values.value_size()};
    }
  }

  // The most updates that Fill() prepares at once, a multiple of the batch
  // size.
  size_t capacity() const { return updates_.size(); }

  // Generates the next `count` updates, which replace those of the block, and
  // records them in the oracle.
  // REQUIRES: count <= capacity(); ReturnUnwritten() has been called since the
  // previous Fill()
  void Fill(size_t count) {
    char* key = keys_.data();
    char* value = bytes_.data();
    for (size_t i = 0; i < count; ++i) {
      const Step step = steps_[i] = stream_.Next();
      writer_.Write(step.key, key);
      key += writer_.shape().size();
      if (step.version == 0) continue;
      const size_t size = values_.Write(step.key, step.version, value);
      if (packed_) {
        updates_[i].value = {value, size};
        value += size;
      } else {
        value += value_stride_;
      }
    }
    filled_ = count;
  }

  // Returns `count` updates from position `first` of the block on.  They, and
  // the bytes that they refer to, are valid until the next Fill().
  // REQUIRES: first + count is at most the number that was filled
  std::span<const Update> Range(size_t first, size_t count) const {
    return std::span(updates_).subspan(first, count);
  }

  // Ends the block after the first `done` updates have been written: adds the
  // bytes of their values, and undoes the records of the others, last one
  // first.  Called once per Fill(), even if all were written.  If some were
  // not, the stream cannot be continued; see WriteStream::Undo().
  // REQUIRES: `done` is at most the number that was filled
  void ReturnUnwritten(size_t done) {
    value_bytes_ += ValueBytes(done);
    while (filled_ > done) stream_.Undo(steps_[--filled_]);
  }

  // Returns the bytes of all values written, up to the last ReturnUnwritten().
  uint64_t value_bytes() const { return value_bytes_; }

 private:
  // Memory that a value occupies on average: values of one size are stored at
  // the stride of Values::buffer_size(), others back to back.
  size_t MeanValueBytes() const {
    return packed_ ? static_cast<size_t>(values_.sizes().Mean())
                   : value_stride_;
  }

  // Bytes of the first `count` values of the block.
  uint64_t ValueBytes(size_t count) const {
    if (!packed_) return value_stride_ == 0 ? 0 : count * values_.value_size();
    uint64_t bytes = 0;
    for (const Update& update : Range(0, count)) bytes += update.value->size();
    return bytes;
  }

  WriteStream& stream_;
  const Values& values_;
  const KeyWriter writer_;
  // Bytes from one value to the next if all have one size; 0 for deletes.
  const size_t value_stride_;
  const bool packed_;        // values of varying size are stored back to back
  std::vector<Step> steps_;  // of the updates, to undo them
  std::vector<char> keys_;
  // Enough for the largest values.  Packed ones never reach the end: each is at
  // most a stride long, slack included.
  std::vector<char> bytes_;
  std::vector<Update> updates_;
  size_t filled_ = 0;  // updates that are in the block and not undone
  uint64_t value_bytes_ = 0;
};

// The next keys to read, and what reading them must return.
//
//   block.Fill(keys, oracle, count);    // draws, and starts to fetch
//   block.Expect(check, count);         // unless other threads write
//   for i in 0 ... count - 1:
//     ... a get of block.key(i) must return block.expected(i) ...
//
// Not thread-safe: each thread has its own.
class KeyBlock {
 public:
  // The last `cut` bytes of each key are omitted.  A key that is one byte short
  // is right before the whole key in bytewise order, and always absent.
  // REQUIRES: cut < keys.size()
  KeyBlock(KeyShape keys, size_t cut)
      : writer_(keys),
        key_size_(keys.size() - cut),
        expected_(BlockEntries(keys.size())),
        keys_(expected_.size() * keys.size(), keys.pad()) {}

  // The most keys that Fill() draws at once.
  size_t capacity() const { return expected_.size(); }

  // Draws the next `count` keys, which replace those of the block, and
  // prefetches their entries in the oracle.
  // REQUIRES: count <= capacity()
  void Fill(KeyStream& stream, const Oracle& oracle, size_t count) {
    char* key = keys_.data();
    for (size_t i = 0; i < count; ++i) {
      const uint64_t index = expected_[i].key = stream.Next();
      oracle.Prefetch(index);
      writer_.Write(index, key);
      key += writer_.shape().size();
    }
  }

  // Looks up what a get of each of the first `count` keys must return.  Until
  // then only
  // the indexes of expected() are set.  A separate pass, so that the prefetches
  // of Fill() have completed.  Meaningless if other threads write: what is
  // expected then depends on the moment of the call.
  void Expect(const Check& check, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      expected_[i] = check.ExpectedOf(expected_[i].key);
    }
  }

  // Key i of the block and its expected answer, valid until the next Fill().
  // REQUIRES: i is below the number that was filled
  const Expected& expected(size_t i) const { return expected_[i]; }
  std::string_view key(size_t i) const {
    return {keys_.data() + i * writer_.shape().size(), key_size_};
  }

 private:
  const KeyWriter writer_;
  const size_t key_size_;
  std::vector<Expected> expected_;  // `key` by Fill(), the rest by Expect()
  std::vector<char> keys_;
};

}  // namespace kvmatrix

#endif  // COMMON_LOOPS_BLOCKS_H_
