#include "common/loops/mix_loop.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/loops/checked_scan.h"
#include "common/loops/contention.h"
#include "common/loops/key_claim.h"
#include "common/mixes/mix.h"
#include "common/mixes/mix_workload.h"
#include "common/spec/quantities.h"
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
    const uint64_t most = ReadsOf(w_.benchmark, w_.config);
    uint64_t operations = 0;
    bool more = true;
    w_.meter.Start();
    while (more && operations < most && w_.meter.IsInTime(1)) {
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
  // True if the operation starts with a get.
  bool Gets(Operation operation) const {
    return operation == Operation::kRead || operation == Operation::kGet ||
           operation == Operation::kReadModifyWrite ||
           (operation == Operation::kUpdate && updates_get_);
  }

  // Does the harness's work for an operation in advance.  A contended put
  // guesses its version here, before the claim, so that its value is usually
  // ready when the key is claimed.
  void Prepare(const MixStep& step) {
    key_bytes_ = key_.Set(step.key);
    if (Scans(step.operation)) {
      const bool reverse = step.operation == Operation::kScanReverse;
      return scan_.LookAhead(step.key, step.scan_length,
                             reverse ? Order::kBackward : Order::kForward);
    }
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
    if (Scans(step.operation)) {
      bytes_ += scan_.Run(session_, key_bytes_).bytes;
      return;
    }
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
  const bool updates_get_ = w_.mix->UpdatesGet();
  KeyBuffer key_;
  std::vector<char> value_;
  uint32_t version_ = 0;  // of the prepared value
  size_t value_size_ = 0;
  std::string_view key_bytes_;
  Expected expected_{};
  std::optional<KeyClaim> claim_;  // held during a put
  uint64_t claim_wait_ns_ = 0;
  CheckedScan<Contention> scan_{w_};
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
