// The table of all flags, from which everything else follows: the gflags
// definitions, range checks, --help, the flags of --describe and the options of
// a result line.  Rules about several flags at once are in rules.h.
//
// The rows are in flag_table.cc, what is done with them in flags.cc.  gflags
// learns the flags before main() runs, so that main() only parses:
//
//   ParseFlags(words, driver);
//   const Config config = ConfigFromFlags();
//
// A driver's own flags are ordinary gflags and not in the table.
//
// Everything that is returned by pointer, span or view is valid forever.  All
// functions are thread-safe once gflags has parsed the command line.

#ifndef COMMON_CLI_FLAGS_H_
#define COMMON_CLI_FLAGS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/spec/config.h"

namespace kvmatrix {

// The flags as typed, in the types of gflags.  ConfigFromFlags() converts those
// that are not fields of Config.  A default-constructed one holds the defaults;
// that of --benchmarks is db_bench's list.
struct CommandLine {
  Config config;
  std::string benchmarks =
      "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,"
      "readseq,readreverse,compact,readrandom,readseq,readreverse,"
      "fill100K,crc32c,snappycomp,snappyuncomp";
  std::string after;
  int64_t reads = -1;  // -1: --num
  std::string key_format = "decimal";
  std::string value_size_distribution_type = "fixed";
  std::string stream = "kvmatrix";
  bool sync = false;
  std::string durability = "buffered";
  double duration_s = 0;  // 0: no limit
  double min_time_s = 0;
  double warmup_s = 0;
  std::string db;
  std::string json;
  std::string progress;
  std::string device_stat;
};

// Headings of --help, in its order; the texts are kGroupTitles.
enum class FlagGroup {
  kWorkload,
  kKeys,
  kValues,
  kPace,
  kEngine,
  kMix,
  kYcsb,
  kMixgraph,
  kSwing,    // mixgraph's rate; not allowed in scenarios
  kProcess,  // this invocation; not allowed in scenarios
};
inline constexpr std::string_view kGroupTitles[] = {
    "Work", "Keys",           "Values",   "Threads and pace", "The engine",
    "mix",  "YCSB's records", "mixgraph", "mixgraph's rate",  "This run"};

// The accepted values of a number, both ends included.  kNone (not a number)
// equals nothing, so it means that a bound does not apply.
struct FlagRange {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double min = 0;
  double max = std::numeric_limits<double>::max();
  double also = kNone;          // accepted too, with a special meaning
  double scenario_min = kNone;  // in scenarios, where answers are verified
};

// Another flag that decides whether a flag may be set.  Without a `flag`, none
// does.
struct FlagCondition {
  const char* flag = nullptr;
  std::span<const std::string_view> values = {};  // empty: its default only
};

// Where the value of a flag is stored, and a value.  The alternatives have the
// same order, that of TypeName().
using FlagField =
    std::variant<bool*, uint64_t*, int64_t*, double*, std::string*>;
using FlagValue = std::variant<bool, uint64_t, int64_t, double, std::string>;

// One row of the table.  Constant data.  Whoever adds one also runs `python -m
// tests.support.make_rulebook` (CONTRIBUTING.md).
struct Flag {
  const char* name;                  // without dashes
  FlagField (*field)(CommandLine&);  // its value, initialised to the default
  FlagGroup group;
  const char* help;      // ranges and choices are appended to it
  FlagRange range = {};  // of a number
  // The words that a string flag accepts; null: any.
  std::vector<std::string_view> (*choices)() = nullptr;
  const char* unit = "";  // such as "bytes"; "": a plain number
  FlagCondition only_with = {};
  // Why the flag must stay at its default if --stream replays another program;
  // null: it may be set.
  const char* not_replayed = nullptr;
  const char* option = nullptr;  // its key in a result line; null: left out
  bool option_if_set = false;    // in a result line only if it was set
  bool by_benchmark = false;     // the option may differ from the flag
  // The value in the result line of a benchmark; null: the value of the field.
  FlagValue (*option_value)(const Config&, const Benchmark&) = nullptr;
};

// All flags except those of the driver, in the order of --help.
std::span<const Flag> AllFlags();

// True if a scenario may set the flag: all but those of this invocation and of
// mixgraph's rate.
constexpr bool InScenarios(const Flag& flag) {
  return flag.group != FlagGroup::kProcess && flag.group != FlagGroup::kSwing;
}

// Returns gflags' name of the type, such as "uint64".
std::string_view TypeName(const Flag& flag);

// Returns the flag of the table with this name.  REQUIRES: there is one
const Flag& FindFlag(std::string_view name);

// Returns the accepted values of a flag of the table, such as "1 to 256"; empty
// if it has no range.
std::string RangeOf(std::string_view name);

// Returns the value that the flag has if it is not set.
FlagValue DefaultOf(const Flag& flag);

// Returns the value of the flag in a result line.  REQUIRES: flag.option is not
// null
FlagValue OptionOf(const Flag& flag, const Config& config,
                   const Benchmark& benchmark);

// True if the flag is among the options of a run with `config`: a flag with
// `option_if_set` only if it was named on the command line or differs from its
// default.
bool IsOption(const Flag& flag, const Config& config);

// Returns the parsed gflags of this process, after checking each one and all
// together.  Throws UsageError for the first that is wrong.
// REQUIRES: gflags has parsed the command line
Config ConfigFromFlags();

// Returns the text of --help: benchmarks, the flags of the table by group, and
// those of the driver.
std::string HelpText();

// True if a flag defined in `file_name`, as gflags reports it, belongs to the
// driver: the file is in drivers/.
bool IsDriverFlag(const std::string& file_name);

}  // namespace kvmatrix

#endif  // COMMON_CLI_FLAGS_H_
