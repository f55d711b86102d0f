#include "common/loops/mix_loop.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/loops/contention.h"
#include "common/loops/key_claim.h"
#include "common/mixes/mix.h"
#include "common/mixes/mix_workload.h"
#include "common/stream/keys.h"

namespace kvmatrix {
namespace {

// Performs one operation after another, each answer checked.  See contention.h
// for the policy.
template <typename Contention>
class MixLoop {
 public:
  MixLoop(const ThreadContext& context, Session& session)
      : w_(context),
        session_(session),
        stream_(
            context.mix->NewStream(context.stream_seed, context.thread_share)),
        key_(context.config.key_shape()),
        // mixgraph chooses sizes of its own, up to its own maximum.
        value_(Values::BufferSize(std::max<size_t>(
            context.values.value_size(),
            context.config.mix.mixgraph.mix_max_value_size))) {}

  LoopResult Run() {
    uint64_t operations = 0;
    bool more = true;
    w_.meter.Start();
    while (more && operations < w_.config.reads && w_.meter.IsInTime(1)) {
      const MixStep step = stream_->Next();
      Prepare(step);
      w_.meter.Begin(1);
      if (Contention::kOthersWrite && Writes(step.operation)) ClaimKey(step);
      w_.meter.ExcludePreparation();
      Do(step);
      claim_.reset();
      more = w_.meter.Continue(++operations);
      Count(step.operation);
      stream_->Done(step);
    }
    const uint64_t loop_ns = w_.meter.StopNs(operations);
    LoopResult result{.operations = operations,
                      .loop_ns = loop_ns,
                      .found = w_.check.found(),
                      .digest = w_.check.digest(),
                      .bytes = bytes_,
                      .claim_wait_ns = claim_wait_ns_,
                      .label = w_.mix->Label()};
    FillTypes(result);
    return result;
  }

 private:
  // An entry that was present before a scan.
  struct Ahead {
    uint64_t key;
    typename Contention::Known known;
  };

  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  // True if the operation starts with a get.
  bool Gets(Operation operation) const {
    return operation == Operation::kRead || operation == Operation::kGet ||
           operation == Operation::kReadModifyWrite ||
           (operation == Operation::kUpdate && w_.mix->UpdatesGet());
  }

  // Does the harness's work for an operation in advance.  A contended put
  // guesses its version here, before the claim, so that its value is usually
  // ready when the key is claimed.
  void Prepare(const MixStep& step) {
    key_bytes_ = key_.Set(step.key);
    if (Scans(step.operation)) return LookAhead(step);
    if (step.operation == Operation::kMissing) key_bytes_.remove_suffix(1);
    if (Contention::kOthersWrite) {
      if (!Puts(step.operation)) return;
      return MakeValue(step, w_.oracle.Observe(step.key).newest + 1);
    }
    if (Gets(step.operation)) expected_ = w_.check.ExpectedOf(step.key);
    if (step.operation == Operation::kDelete) w_.oracle.Delete(step.key);
    if (!Puts(step.operation)) return;
    MakeValue(step, w_.oracle.Put(step.key));
    if (step.value_size) w_.oracle.SetSize(step.key, *step.value_size);
  }

  void MakeValue(const MixStep& step, uint32_t version) {
    version_ = version;
    if (!step.value_size) {
      value_size_ = w_.values.Write(step.key, version, value_.data());
      return;
    }
    value_size_ = *step.value_size;
    w_.values.WriteSized(w_.values.Root(step.key, version), value_size_,
                         value_.data());
  }

  void Do(const MixStep& step) {
    if (Scans(step.operation)) return Scan(step);
    if (Gets(step.operation)) CheckedGet(step);
    if (Puts(step.operation)) Put();
    if (step.operation == Operation::kDelete) Write({key_bytes_, {}});
    if (step.operation == Operation::kMissing) {
      w_.check.ExpectAbsent(key_bytes_, Get());
    }
  }

  // Performs and checks a get.  A key that this thread has claimed is not
  // written by any other, so its expected answer is exact.
  void CheckedGet(const MixStep& step) {
    if (!Contention::kOthersWrite || Puts(step.operation)) {
      w_.check.ExpectValue(expected_, Get());
      return;
    }
    const auto known = Contention::Observe(w_, step.key);
    Contention::Compare(w_, step.key, known, Get());
  }

  // Claims the key of a write and regenerates the value if another thread has
  // written the key since Prepare().  The wait is the harness's and not part of
  // the call.
  void ClaimKey(const MixStep& step) {
    claim_.emplace(w_, step.key, step.operation == Operation::kDelete);
    claim_wait_ns_ += claim_->waited_ns();
    if (!Puts(step.operation)) return;
    if (Gets(step.operation)) expected_ = w_.check.ExpectedOf(step.key);
    if (claim_->version() != version_) MakeValue(step, claim_->version());
  }

  std::optional<std::string_view> Get() {
    const std::optional<std::string_view> value = session_.Get(key_bytes_);
    if (value) bytes_ += key_bytes_.size() + value->size();
    return value;
  }

  void Put() {
    Write({key_bytes_, std::string_view(value_.data(), value_size_)});
    bytes_ += value_size_;
  }

  void Write(const Update& update) {
    session_.Write({&update, 1});
    bytes_ += update.key.size();
  }

  // Collects the entries that a scan must visit, as of now.  A scan of length 0
  // still visits the entry it starts at.  Where others delete, the absent keys
  // between them too: one may be put and deleted again during the scan.
  void LookAhead(const MixStep& step) {
    const bool absent_too = Contention::kOthersWrite && w_.mix->Deletes();
    reverse_ = step.operation == Operation::kScanReverse;
    const auto next = [&](uint64_t key) {
      if (absent_too || key >= w_.oracle.key_space()) return key;
      return reverse_ ? w_.oracle.PreviousPresent(key + 1)
                      : w_.oracle.NextPresent(key);
    };
    limit_ = std::max<uint64_t>(step.scan_length, 1);
    ahead_.clear();
    uint64_t present = 0;
    uint64_t key = next(step.key);
    while (present < limit_ && key < w_.oracle.key_space()) {
      ahead_.push_back({key, Contention::Observe(w_, key)});
      if (w_.oracle.Version(key) != 0) ++present;
      key = next(reverse_ ? key - 1 : key + 1);  // past 0 there is kNone
    }
  }

  void Scan(const MixStep& step) {
    size_t met = 0;  // entries of ahead_ visited so far
    uint64_t visited = 0;
    uint64_t last = kNone;
    session_.Scan(key_bytes_, reverse_ ? Order::kBackward : Order::kForward,
                  [&](std::string_view key, std::string_view value) {
                    const std::optional<uint64_t> index = w_.check.IndexOf(key);
                    if (index) {
                      if (!Follows(*index, last, step.key, met)) {
                        w_.check.Fail(
                            "a scan is out of order or skips entries at", key);
                      }
                      Visit(*index, met, value);
                      last = *index;
                    }
                    bytes_ += key.size() + value.size();
                    return ++visited < limit_;
                  });
    if (visited < limit_ && !MaySkipTo(ahead_.size(), met)) {
      w_.check.Fail("a scan ends before", Check::KeyText(ahead_[met].key));
    }
  }

  // Checks an entry of a scan that has met `met` of the entries ahead, of which
  // this may be the last.
  void Visit(uint64_t key, size_t met, std::string_view value) {
    const bool ahead = met > 0 && ahead_[met - 1].key == key;
    Contention::Compare(
        w_, key, ahead ? ahead_[met - 1].known : Contention::Absent(), value);
  }

  // True if the scan visits key `a` before key `b`.
  bool Precedes(uint64_t a, uint64_t b) const {
    return reverse_ ? a > b : a < b;
  }

  // True if `key` may follow `last` in a scan from `start`: keys are in the
  // order of the scan, and no entry that was present before the scan is
  // skipped.  An entry that is not among those was inserted since; Compare()
  // decides if that is possible.
  bool Follows(uint64_t key, uint64_t last, uint64_t start, size_t& met) const {
    if (last == kNone ? Precedes(key, start) : !Precedes(last, key)) {
      return false;
    }
    size_t here = met;
    while (here < ahead_.size() && Precedes(ahead_[here].key, key)) ++here;
    const bool allowed = MaySkipTo(here, met);
    met = here < ahead_.size() && ahead_[here].key == key ? here + 1 : here;
    return allowed;
  }

  // True if a scan that has met `met` of the entries ahead may skip those
  // before `end`.  If not, `met` is the first that it may not.
  bool MaySkipTo(size_t end, size_t& met) const {
    for (; met < end; ++met) {
      const Ahead& entry = ahead_[met];
      if (!Contention::MaySkip(w_, entry.key, entry.known)) return false;
    }
    return true;
  }

  void Count(Operation operation) {
    const auto type = static_cast<size_t>(operation);
    ++counts_[type];
    if (!w_.meter.times_calls()) return;
    if (!latencies_[type]) latencies_[type].emplace();
    latencies_[type]->Add(w_.meter.last_call());
  }

  void FillTypes(LoopResult& result) const {
    for (size_t type = 0; type < kOperations; ++type) {
      if (counts_[type] == 0) continue;
      const std::string name(OperationName(static_cast<Operation>(type)));
      result.by_type[name] = counts_[type];
      if (latencies_[type]) result.ticks_by_type[name] = *latencies_[type];
    }
  }

  const ThreadContext& w_;
  Session& session_;
  const std::unique_ptr<MixStream> stream_;
  KeyBuffer key_;
  std::vector<char> value_;
  uint32_t version_ = 0;  // of the prepared value
  size_t value_size_ = 0;
  std::string_view key_bytes_;
  Expected expected_{};
  std::optional<KeyClaim> claim_;  // held during a put
  uint64_t claim_wait_ns_ = 0;
  std::vector<Ahead> ahead_;
  bool reverse_ = false;  // the direction of the next scan
  uint64_t limit_ = 0;    // entries that the next scan visits at most
  uint64_t bytes_ = 0;
  std::array<uint64_t, kOperations> counts_{};
  std::array<std::optional<TickHistogram>, kOperations> latencies_;
};

}  // namespace

LoopResult RunMix(const ThreadContext& context, Session& session) {
  return context.group ? MixLoop<Contended>(context, session).Run()
                       : MixLoop<Alone>(context, session).Run();
}

}  // namespace kvmatrix
