// The rulebook of flags: one table makes the gflags, their checks, --help, the
// flags of --describe and the options of a result line.

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

// What is typed on the command line, in the types of gflags.
struct CommandLine {
  Config config;
  std::string benchmarks =
      "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,"
      "readseq,readreverse,compact,readrandom,readseq,readreverse,"
      "fill100K,crc32c,snappycomp,snappyuncomp";
  std::string after;
  int64_t reads = -1;
  std::string key_format = "decimal";
  std::string value_size_distribution_type = "fixed";
  std::string stream = "kvmatrix";
  double duration_s = 0;
  std::string db;
  std::string json;
  std::string progress;
};

enum class FlagGroup {
  kWorkload,
  kKeys,
  kValues,
  kPace,
  kEngine,
  kYcsb,
  kMixgraph,
  kSwing,    // of mixgraph's rate; by hand, not in scenarios
  kProcess,  // of one call of this program; not in scenarios
};

// What a number may be, both ends included.
struct FlagRange {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double min = 0;
  double max = std::numeric_limits<double>::max();
  double also = kNone;          // a value outside, with a meaning of its own
  double scenario_min = kNone;  // in scenarios, where answers must be verified
};

// Another flag that decides whether a flag may differ from its default.
struct FlagCondition {
  const char* flag = nullptr;
  std::span<const std::string_view> values = {};  // of it; empty: its default
};

using FlagField =
    std::variant<bool*, uint64_t*, int64_t*, double*, std::string*>;
using FlagValue = std::variant<bool, uint64_t, int64_t, double, std::string>;

struct Flag {
  const char* name;
  FlagField (*field)(CommandLine&);  // where its value is; holds the default
  FlagGroup group;
  const char* help;
  FlagRange range = {};
  std::vector<std::string_view> (*choices)() = nullptr;
  const char* unit = "";  // such as "bytes"; "": a plain number
  FlagCondition only_with = {};
  // Why it stays at its default where --stream replays a program; null: it need
  // not.
  const char* not_replayed = nullptr;
  const char* option = nullptr;  // its name in a result line; null: not there
  bool option_if_set = false;    // only if given, or other than the default
  bool by_benchmark = false;     // the option is not simply the flag
  // What the line of a benchmark says; null: the value of the field.
  FlagValue (*option_value)(const Config&, const Benchmark&) = nullptr;
};

// All flags but those of the driver, in the order of --help.
std::span<const Flag> AllFlags();

std::string_view GroupTitle(FlagGroup group);

// True if a scenario may have the flag.
bool InScenarios(const Flag& flag);

// As gflags names it, such as "uint64".
std::string_view TypeName(const Flag& flag);

FlagValue DefaultOf(const Flag& flag);

// What a result line says of the flag; REQUIRES: flag.option is not null.
FlagValue OptionOf(const Flag& flag, const Config& config,
                   const Benchmark& benchmark);

// True if the flag belongs into the options of a run of `config`.
bool IsOption(const Flag& flag, const Config& config);

// Reads the gflags of this executable and checks them, one by one and together.
// Throws UsageError.
Config ConfigFromFlags();

// What --help prints.
std::string HelpText();

// True if the flag is defined in the driver's own file.
bool IsDriverFlag(const std::string& file_name);

}  // namespace kvmatrix

#endif  // COMMON_CLI_FLAGS_H_
