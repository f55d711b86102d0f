#include "common/cli/flags.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/cli/after_list.h"
#include "common/cli/console.h"
#include "common/cli/rules.h"
#include "common/crash/crash_flags.h"
#include "common/driver.h"
#include "common/stream/leveldb_stream.h"

namespace kvmatrix {
namespace {

// Function-local statics here and below, because kRegistered uses them before
// main().
CommandLine& Parsed() {
  static CommandLine line;
  return line;
}

const CommandLine& Defaults() {
  static const CommandLine defaults;
  return defaults;
}

// gflags stores pointers to defaults but never writes to them.
FlagField DefaultField(const Flag& flag) {
  return flag.field(const_cast<CommandLine&>(Defaults()));
}

// The file reported to gflags as the definition of the common flags; --help
// prints the flags of drivers/ in a section of their own.
constexpr char kFile[] = "common/cli/flags.cc";

// Runs before main(): gflags must know all flags when it parses the command
// line.
const bool kRegistered = [] {
  for (const Flag& flag : AllFlags()) {
    std::visit(
        [&flag](auto* storage) {
          using Value = std::remove_pointer_t<decltype(storage)>;
          auto* default_value = std::get<Value*>(DefaultField(flag));
          gflags::FlagRegisterer(flag.name, flag.help, kFile, storage,
                                 default_value);
        },
        flag.field(Parsed()));
  }
  return true;
}();

FlagValue ValueOf(const FlagField& field) {
  return std::visit([](const auto* value) -> FlagValue { return *value; },
                    field);
}

bool IsSet(const Flag& flag, CommandLine& line) {
  return ValueOf(flag.field(line)) != DefaultOf(flag);
}

// Formats a bound for people: "10^9" or "2^30" where that is shorter than the
// digits.
std::string BoundText(double number) {
  if (number < 0) return "-" + BoundText(-number);
  for (const int base : {10, 2}) {
    const double power = std::round(std::log(number) / std::log(base));
    if (number < 1e6 || std::pow(base, power) != number) continue;
    return std::to_string(base) + "^" + std::to_string(std::lround(power));
  }
  char text[32];
  const bool whole = number == std::floor(number) && std::abs(number) < 1e19;
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%g", number);
  return text;
}

// Formats a value as it would be typed: every digit of an integer.
std::string TextOf(const FlagValue& value) {
  struct {
    std::string operator()(bool truth) { return truth ? "true" : "false"; }
    std::string operator()(uint64_t count) { return std::to_string(count); }
    std::string operator()(int64_t count) { return std::to_string(count); }
    std::string operator()(double number) {
      char text[32];
      std::snprintf(text, sizeof(text), "%g", number);
      return text;
    }
    std::string operator()(const std::string& text) { return text; }
  } writer;
  return std::visit(writer, value);
}

// Returns "zipf or latest"; an empty word is shown as ''.
std::string JoinWithOr(std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i].empty() ? "''" : words[i];
  }
  return text;
}

// True for a number with a largest value.
bool HasRange(const Flag& flag) { return flag.range.max < FlagRange().max; }

std::string RangeText(const FlagRange& range) {
  std::string text = BoundText(range.min) + " to " + BoundText(range.max);
  if (!std::isnan(range.also)) text += ", or " + BoundText(range.also);
  return text;
}

// Throws UsageError for a number out of range or a word that is not a choice.
void CheckRange(const Flag& flag, const FlagValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) {
    if (flag.choices == nullptr) return;
    const auto choices = flag.choices();
    if (std::ranges::find(choices, *word) != choices.end()) return;
    throw UsageError(
        flag.name, "expected " + JoinWithOr(choices) + ", not '" + *word + "'");
  }
  if (std::holds_alternative<bool>(value)) return;
  // A long double holds every integer that a flag may have.
  const auto number = std::visit(
      [](const auto& v) -> long double {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) {
          return static_cast<long double>(v);
        }
        return 0;
      },
      value);
  const FlagRange& range = flag.range;
  if (number == range.also) return;
  if (number >= range.min && number <= range.max) return;
  throw UsageError(flag.name,
                   "expected " + RangeText(range) + ", not " + TextOf(value));
}

// Throws UsageError if another flag makes this one meaningless.
void CheckConditions(const Flag& flag, CommandLine& line) {
  if (!IsSet(flag, line)) return;
  if (flag.not_replayed != nullptr && line.stream != Defaults().stream) {
    throw UsageError(flag.name, "leave it out with --stream=" + line.stream +
                                    ": " + flag.not_replayed);
  }
  if (flag.only_with.flag == nullptr) return;
  const Flag& other = FindFlag(flag.only_with.flag);
  const auto& values = flag.only_with.values;
  if (values.empty()) {
    if (!IsSet(other, line) && !line.config.set_flags.contains(other.name))
      return;
    throw UsageError(flag.name, "cannot be used with --" +
                                    std::string(other.name) +
                                    "; leave one of them out");
  }
  const std::string value = TextOf(ValueOf(other.field(line)));
  if (std::ranges::find(values, value) != values.end()) return;
  throw UsageError(flag.name, "needs --" + std::string(other.name) + "=" +
                                  JoinWithOr(values) +
                                  "; leave it out otherwise");
}

bool IsOnCommandLine(const char* name) {
  return !gflags::GetCommandLineFlagInfoOrDie(name).is_default;
}

void CheckEach(CommandLine& line) {
  for (const Flag& flag : AllFlags()) {
    if (IsOnCommandLine(flag.name)) line.config.set_flags.insert(flag.name);
    CheckRange(flag, ValueOf(flag.field(line)));
  }
  for (const Flag& flag : AllFlags()) CheckConditions(flag, line);
}

// Returns the enumerator called `name`.  REQUIRES: flag.choices has the
// enumerators in their order
template <typename Enum>
Enum EnumOf(const Flag& flag, const std::string& name) {
  const auto choices = flag.choices();
  return static_cast<Enum>(std::ranges::find(choices, name) - choices.begin());
}

std::filesystem::path DefaultDb() {
  return std::filesystem::temp_directory_path() /
         ("kvmatrix-" + std::to_string(geteuid()));
}

// Fills the fields of Config that are not simply the value of a flag.
void Derive(const CommandLine& line, Config& config) {
  const auto is_set = [&config](const char* flag) {
    return config.set_flags.contains(flag);
  };
  if (line.after.empty() && config.use_existing_db) {
    throw UsageError("use_existing_db",
                     "needs --after=LIST, which lists the benchmarks already "
                     "run on the database, such as --after=fillseq");
  }
  if (!line.after.empty() && !config.use_existing_db) {
    throw UsageError("after", "needs --use_existing_db");
  }
  config.reads =
      line.reads < 0 ? config.num : static_cast<uint64_t>(line.reads);
  config.duration_ns = static_cast<uint64_t>(line.duration_s * 1e9);
  config.ends_by_time = config.duration_ns > 0 && line.reads < 0;
  config.min_time_ns = static_cast<uint64_t>(line.min_time_s * 1e9);
  config.warmup_ns = static_cast<uint64_t>(line.warmup_s * 1e9);
  config.key_format =
      EnumOf<KeyFormat>(FindFlag("key_format"), line.key_format);
  config.value_size_law =
      EnumOf<SizeLaw>(FindFlag("value_size_distribution_type"),
                      line.value_size_distribution_type);
  try {
    config.mix.shares = ParseShares(config.mix.mix_shares);
  } catch (const std::invalid_argument& problem) {
    throw UsageError("mix_shares", problem.what());
  }
  config.stream = EnumOf<StreamKind>(FindFlag("stream"), line.stream);
  if (config.stream == StreamKind::kDbBench && !is_set("cache_size")) {
    config.cache_size = kDbBenchCacheSize;
  }
  config.durability =
      EnumOf<Durability>(FindFlag("durability"), line.durability);
  const bool durable = config.durability == Durability::kDurable;
  if (is_set("sync") && is_set("durability") && line.sync != durable) {
    throw UsageError("durability", line.durability + " contradicts --sync=" +
                                       (line.sync ? "true" : "false") +
                                       "; leave one of them out");
  }
  if (line.sync) config.durability = Durability::kDurable;
  config.settle &= config.stream == StreamKind::kOwn || is_set("settle");
  config.pareto = {config.mix.mixgraph.value_k,
                   is_set("value_sigma") ? config.mix.mixgraph.value_sigma : 0};
  config.db = line.db.empty() ? DefaultDb() : std::filesystem::path(line.db);
  config.json = line.json;
  config.progress = line.progress;
  config.device_stat = line.device_stat;
  RequireKnown("benchmarks", line.benchmarks);
  for (const auto& listed : SplitList("benchmarks", line.benchmarks)) {
    const size_t position = config.benchmarks.size();
    if (listed.is_warm_up) config.warm_ups.insert(position);
    if (listed.repeats > 1) config.repeats[position] = listed.repeats;
    config.benchmarks.push_back(FindBenchmark(listed.word));
  }
  if (config.benchmarks.empty()) {
    throw UsageError("benchmarks", "name at least one benchmark");
  }
  config.after = ParseAfterList(line.after, config);
}

// Breaks a text into lines of at most 88 columns, each indented by 6 spaces.
std::string Wrapped(const std::string& text) {
  constexpr size_t kColumns = 88 - 6;
  std::string lines, line;
  for (const std::string_view word : Split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      lines += "      " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return lines + "      " + line + "\n";
}

std::string FlagText(const std::string& name, const std::string& default_value,
                     const std::string& help) {
  return "  --" + name + "=" + (default_value.empty() ? "''" : default_value) +
         "\n" + Wrapped(help);
}

std::string HelpOf(const Flag& flag) {
  std::string text = flag.help;
  if (flag.choices != nullptr) {
    text += "; one of " + JoinWithOr(flag.choices());
  } else if (HasRange(flag)) {
    text += "; from " + RangeText(flag.range);
  }
  return text;
}

std::string CommonFlagLines() {
  std::string text;
  for (size_t group = 0; group < std::size(kGroupTitles); ++group) {
    const auto its_group = static_cast<FlagGroup>(group);
    text += std::string(kGroupTitles[group]) + ":\n";
    for (const Flag& flag : AllFlags()) {
      if (flag.group != its_group) continue;
      text += FlagText(flag.name, TextOf(DefaultOf(flag)), HelpOf(flag));
    }
    text += "\n";
  }
  return text;
}

std::string DriverFlagLines() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::string text;
  for (const auto& flag : flags) {
    if (!IsDriverFlag(flag.filename)) continue;
    const bool wide = flag.type == "uint64";
    text += FlagText(flag.name, flag.default_value,
                     flag.description + (wide ? "; at most 2^44" : ""));
  }
  return text.empty() ? "" : "Flags of this engine:\n" + text + "\n";
}

std::string BenchmarkLines() {
  size_t width = 0;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    width = std::max(width, benchmark.name.size() + 2);
  }
  std::string text;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    std::string name(benchmark.name);
    name.resize(width, ' ');
    text += "  " + name + std::string(benchmark.summary) + "\n";
  }
  return text;
}

}  // namespace

bool IsDriverFlag(const std::string& file_name) {
  return file_name.find("drivers/") != std::string::npos;
}

std::string_view TypeName(const Flag& flag) {
  constexpr std::string_view kNames[] = {"bool", "uint64", "int64", "double",
                                         "string"};
  return kNames[DefaultField(flag).index()];
}

const Flag& FindFlag(std::string_view name) {
  return *std::ranges::find(
      AllFlags(), name, [](const Flag& f) { return std::string_view(f.name); });
}

std::string RangeOf(std::string_view name) {
  const Flag& flag = FindFlag(name);
  return HasRange(flag) ? RangeText(flag.range) : "";
}

FlagValue DefaultOf(const Flag& flag) { return ValueOf(DefaultField(flag)); }

FlagValue OptionOf(const Flag& flag, const Config& config,
                   const Benchmark& benchmark) {
  if (flag.option_value != nullptr) {
    return flag.option_value(config, benchmark);
  }
  CommandLine line;
  // The fields that are not part of Config keep their defaults, which is why
  // such flags need an option_value.
  line.config = config;
  return ValueOf(flag.field(line));
}

bool IsOption(const Flag& flag, const Config& config) {
  if (flag.option == nullptr) return false;
  if (!flag.option_if_set || config.set_flags.contains(flag.name)) return true;
  CommandLine line;
  line.config = config;
  return IsSet(flag, line);
}

Config ConfigFromFlags() {
  CommandLine line = Parsed();
  CheckEach(line);
  Config config = line.config;
  Derive(line, config);
  CheckRules(config);
  return config;
}

std::string HelpText() {
  const std::string name = ProgramName();
  return name +
         ": run db_bench's benchmarks on one engine, check every answer, and "
         "print\nmicroseconds per operation.\n\n  " +
         name +
         " --benchmarks=fillrandom,readrandom --num=100000\n\nBenchmarks:\n" +
         BenchmarkLines() + "\n" + CommonFlagLines() + DriverFlagLines() +
         std::string(kCrashHelp) + "\n" +
         "Other invocations:\n"
         "  --version   print the engine, its build and its codec\n"
         "  --describe  print that, all flags and all benchmarks, as JSON\n"
         "  --check     check the other flags: exit 0, or print the reason and "
         "exit 2\n"
         "  --help      print this text\n\n"
         "Limits: a word of the command line has at most 65536 bytes, a list "
         "of benchmarks\nat most 1000 names.\n\n"
         "Exit codes: 0 done, or unsupported by the engine; 1 a benchmark "
         "failed; 2 wrong\nusage, or standard output cannot be written.  "
         "With --crash the process is killed by\nsignal 9.\n";
}

}  // namespace kvmatrix
