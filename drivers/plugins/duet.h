// Two builds of an engine in one process, for benchmarks that read: each has
// its own copy of one database, and they answer the calls alternately.
//
// What the machine does to one of them it does to the other, a millisecond
// later, and processor time does not include that of other programs: that is
// why a small difference can be seen on a busy machine.  The ratio still moves
// from process to process, with the places of code and memory, so a comparison
// needs several processes, with fresh copies, in which either build comes
// first.

#ifndef DRIVERS_PLUGINS_DUET_H_
#define DRIVERS_PLUGINS_DUET_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/driver.h"

namespace kvmatrix {

// Whose turn it is, and the processor time of both sides.  A turn has
// kCallsPerTurn calls, and a group has the turns A B B A, or B A A B, in
// alternation: both sides have the outer turns, and follow the other, equally
// often.  Calls after the last whole group are not counted.
//
// Not thread-safe: `cpu_ns` is the time of the calling thread.
class Turns {
 public:
  static constexpr uint64_t kCallsPerTurn = 1'000;
  static constexpr size_t kTurns = 4;  // of a group

  explicit Turns(std::function<uint64_t()> cpu_ns)
      : cpu_ns_(std::move(cpu_ns)) {}

  // Called before each call.  Returns the side that makes it: 0 or 1.
  size_t Next() {
    if (left_ == 0) [[unlikely]]
      Change();
    --left_;
    return side_;
  }

  // "duet_a_cpu_ns" and "duet_b_cpu_ns": the time of each side in whole groups;
  // "duet_calls": the calls of each in them.
  std::map<std::string, uint64_t> Counters() const;

 private:
  void Change();

  const std::function<uint64_t()> cpu_ns_;
  uint64_t left_ = 0;  // calls of this turn
  size_t side_ = 0;
  size_t turn_ = 0;  // since the start; 0: none has begun
  uint64_t start_ns_ = 0;
  std::array<uint64_t, 2> group_ns_ = {};  // by side, of the group that is open
  std::array<uint64_t, 2> whole_ns_ = {};  // of whole groups
  uint64_t groups_ = 0;
};

// Returns a database that passes calls to `first` and to a second one in turn,
// which `open_second` opens on the copy that is expected in DuetPath().  Both
// sides must return what the harness expects; no write is accepted.  Throws
// Unsupported for several threads, and std::runtime_error without the copy.
std::unique_ptr<Database> OpenDuet(
    std::unique_ptr<Database> first, const Options& options,
    const std::function<std::unique_ptr<Database>(const Options&)>&
        open_second);

// Returns where the second side's copy of the database in `path` is.
std::filesystem::path DuetPath(const std::filesystem::path& path);

}  // namespace kvmatrix

#endif  // DRIVERS_PLUGINS_DUET_H_
