#include "drivers/plugins/duet.h"

#include <stdexcept>
#include <utility>

#include "common/timing/resources.h"

namespace kvmatrix {
namespace {

// By turn, in two groups.
constexpr size_t kSides[2 * Turns::kTurns] = {0, 1, 1, 0, 1, 0, 0, 1};

class DuetSession final : public Session {
 public:
  DuetSession(Turns& turns, Database& a, Database& b)
      : turns_(turns), sides_{a.NewSession(), b.NewSession()} {}

  void Write(std::span<const Update>) override {
    throw std::runtime_error("--duet measures reads; nothing may be written");
  }
  std::optional<std::string_view> Get(std::string_view key) override {
    return sides_[turns_.Next()]->Get(key);
  }
  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    sides_[turns_.Next()]->Scan(start, order, visit);
  }

 private:
  Turns& turns_;
  const std::array<std::unique_ptr<Session>, 2> sides_;
};

class DuetDatabase final : public Database {
 public:
  DuetDatabase(std::unique_ptr<Database> a, std::unique_ptr<Database> b)
      : a_(std::move(a)), b_(std::move(b)), turns_(ThreadCpuNs) {}

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<DuetSession>(turns_, *a_, *b_);
  }
  Limits GetLimits() override { return a_->GetLimits(); }
  void Flush() override {
    a_->Flush();
    b_->Flush();
  }
  void Settle() override {
    a_->Settle();
    b_->Settle();
  }
  void Compact() override { throw Unsupported("--duet measures reads"); }
  std::map<std::string, std::string> EffectiveSettings() override {
    return a_->EffectiveSettings();
  }
  std::map<std::string, uint64_t> Counters() override {
    return turns_.Counters();
  }
  // In the reverse order of opening, by which each sees its own threads end.
  void Close() override {
    std::exchange(b_, nullptr)->Close();
    std::exchange(a_, nullptr)->Close();
  }

 private:
  std::unique_ptr<Database> a_;
  std::unique_ptr<Database> b_;
  Turns turns_;
};

}  // namespace

std::map<std::string, uint64_t> Turns::Counters() const {
  return {{"duet_a_cpu_ns", whole_ns_[0]},
          {"duet_b_cpu_ns", whole_ns_[1]},
          {"duet_calls", groups_ * kTurns / 2 * kCallsPerTurn}};
}

void Turns::Change() {
  const uint64_t now_ns = cpu_ns_();
  if (turn_ > 0) group_ns_[side_] += now_ns - start_ns_;
  if (turn_ > 0 && turn_ % kTurns == 0) {
    for (const size_t side : {0, 1}) {
      whole_ns_[side] += std::exchange(group_ns_[side], 0);
    }
    ++groups_;
  }
  side_ = kSides[turn_++ % std::size(kSides)];
  left_ = kCallsPerTurn;
  start_ns_ = now_ns;
}

std::filesystem::path DuetPath(const std::filesystem::path& path) {
  return path.string() + "-duet";
}

std::unique_ptr<Database> OpenDuet(
    std::unique_ptr<Database> first, const Options& options,
    const std::function<std::unique_ptr<Database>(const Options&)>&
        open_second) {
  if (options.threads != 1) throw Unsupported("--duet measures one thread");
  Options of_second = options;
  of_second.path = DuetPath(options.path);
  if (!std::filesystem::is_directory(of_second.path)) {
    throw std::runtime_error("--duet reads two copies of one database; make " +
                             of_second.path.string() + " by cp -a");
  }
  return std::make_unique<DuetDatabase>(std::move(first),
                                        open_second(of_second));
}

}  // namespace kvmatrix
