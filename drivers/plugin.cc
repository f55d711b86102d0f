// A driver in a shared object, behind the interface of kvmatrix/driver.h:
// db_bench_plugin --driver=PATH, and with --duet=PATH two builds of it.  Unlike
// the other drivers it is chosen on the command line, so this file also defines
// common/cli/executable.h.

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "common/cli/executable.h"
#include "common/driver.h"
#include "drivers/plugins/conduct.h"
#include "drivers/plugins/duet.h"
#include "drivers/plugins/plugin_file.h"

namespace kvmatrix {
namespace {

// A plug-in, and what it says of itself.  That is asked once, at the latest
// when a database is opened: the forked process that reports on a killed one
// has none of the plug-in's threads, so a call into it may wait for ever.
struct Loaded : kvm_driver {
  std::optional<std::string> own_version = {};
  std::optional<Guarantees> own_guarantees = {};
};

Loaded plugin;    // set by SelectDriver()
Loaded partner;   // the plug-in of --duet, likewise
Driver selected;  // what the plug-in says, likewise
BuildFacts facts;
bool jit_warmup = true;

bool CompilesLate() { return (plugin.properties & KVM_COMPILES_LATE) != 0; }

kvm_bytes ToBytes(std::string_view s) { return {s.data(), s.size()}; }
std::string_view ToView(kvm_bytes b) { return {b.data, b.size}; }

// Throws what a status means; only `may_refuse` calls may be unsupported.
void Check(kvm_status status, const char* call, kvm_error& error,
           bool may_refuse = false) {
  if (status == KVM_OK) return;
  error.text[sizeof(error.text) - 1] = '\0';
  const std::string reason =
      *error.text ? error.text : std::string(call) + " gave no reason";
  if (status == KVM_UNSUPPORTED && may_refuse) throw Unsupported(reason);
  throw std::runtime_error(
      status == KVM_FAILED
          ? reason
          : std::string("the plug-in's ") + call + " returned the status " +
                std::to_string(status) + ", which it may not: " + reason);
}

// Returns what `function`, a call of the plug-in, returns.
template <typename Function>
kvm_status Contained(const char* call, Function function) {
  const std::string start = "the plug-in's ";
  try {
    return function();
  } catch (const std::exception& error) {
    throw std::runtime_error(start + call + " threw: " + error.what());
  } catch (...) {
    throw std::runtime_error(start + call + " threw what is no std::exception");
  }
}

// Makes a call that is not timed by itself, and checks how it behaved.
template <typename Function>
void Call(const char* name, bool may_refuse, Function function) {
  const Conduct conduct(name);
  kvm_error error = {};
  const kvm_status status = Contained(name, [&] { return function(&error); });
  conduct.Check();
  Check(status, name, error, may_refuse);
}

// A scan that is under way.
struct Scanning {
  const Visitor& visit;
  std::exception_ptr thrown = nullptr;  // by `visit`
};

int VisitEach(void* context, const kvm_entry* entries, size_t n) try {
  auto& scanning = *static_cast<Scanning*>(context);
  for (const kvm_entry& entry : std::span(entries, n)) {
    if (!scanning.visit(ToView(entry.key), ToView(entry.value))) return 0;
  }
  return 1;
} catch (...) {
  static_cast<Scanning*>(context)->thrown = std::current_exception();
  return 0;
}

class PluginSession final : public Session {
 public:
  PluginSession(const kvm_driver& driver, void* database) : plugin_(driver) {
    Call("session", false, [&](kvm_error* error) {
      return plugin_.session(database, &session_, error);
    });
  }
  ~PluginSession() override { plugin_.end(session_); }

  void Write(std::span<const Update> batch) override {
    updates_.clear();
    for (const auto& [key, value] : batch) {
      updates_.push_back({ToBytes(key), ToBytes(value.value_or("")), !value});
    }
    kvm_error error;
    *error.text = '\0';
    const kvm_status status = Contained("write", [&] {
      return plugin_.write(session_, updates_.data(), updates_.size(), &error);
    });
    if (status != KVM_OK) [[unlikely]]
      Check(status, "write", error);
  }

  std::optional<std::string_view> Get(std::string_view key) override {
    kvm_error error;
    *error.text = '\0';
    kvm_bytes value = {};
    const kvm_status status = Contained("get", [&] {
      return plugin_.get(session_, ToBytes(key), &value, &error);
    });
    if (status == KVM_ABSENT) return std::nullopt;
    if (status != KVM_OK) [[unlikely]]
      Check(status, "get", error);
    return ToView(value);
  }

  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    Scanning scanning{visit};
    kvm_error error;
    *error.text = '\0';
    const kvm_status status = Contained("scan", [&] {
      return plugin_.scan(session_, ToBytes(start), order == Order::kBackward,
                          VisitEach, &scanning, &error);
    });
    if (scanning.thrown) std::rethrow_exception(scanning.thrown);
    Check(status, "scan", error);
  }

 private:
  const kvm_driver& plugin_;
  void* session_ = nullptr;
  std::vector<kvm_update> updates_;  // a member to reuse its memory
};

// Returns what a plug-in writes as lines "name=value".
std::map<std::string, std::string> Lines(size_t (*write)(void*, char*, size_t),
                                         void* database) {
  std::string text(write(database, nullptr, 0), '\0');
  text.resize(std::min(write(database, text.data(), text.size()), text.size()));
  std::map<std::string, std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const size_t equals = std::min(line.find('='), line.size());
    lines[line.substr(0, equals)] =
        line.substr(std::min(equals + 1, line.size()));
    at = end + 1;
  }
  return lines;
}

const std::string& VersionOf(Loaded& loaded) {
  if (!loaded.own_version) loaded.own_version = loaded.version();
  return *loaded.own_version;
}

bool Stores() { return !(plugin.properties & KVM_STORES_NOTHING); }

Guarantees AskGuarantees(const kvm_driver& driver) {
  const std::vector<std::string> values = FlagValues(driver);
  std::vector<const char*> flags;
  for (const std::string& value : values) flags.push_back(value.c_str());
  std::array<kvm_guarantee, kDurabilities> documented = {};
  driver.guarantees(flags.data(), documented.data());
  Guarantees guarantees;
  for (size_t i = 0; i < guarantees.size(); ++i) {
    const auto& [promise, source] = documented[i];
    if (promise == KVM_NOT_OFFERED) continue;
    guarantees[i] = {static_cast<Promise>(promise - KVM_LOSES_NOTHING),
                     source ? source : ""};
  }
  return guarantees;
}

const Guarantees& GuaranteesOf(Loaded& loaded) {
  if (!loaded.own_guarantees) loaded.own_guarantees = AskGuarantees(loaded);
  return *loaded.own_guarantees;
}

class Plugin final : public Database {
 public:
  Plugin(Loaded& loaded, const Options& options)
      : plugin_(loaded), threads_before_(CountThreads()) {
    VersionOf(loaded);
    const auto level = static_cast<size_t>(options.durability);
    if (!GuaranteesOf(loaded)[level].promise && Stores())
      throw Unsupported("promises nothing at this durability");
    const std::vector<std::string> values = FlagValues(plugin_);
    std::vector<const char*> flags;
    for (const std::string& value : values) flags.push_back(value.c_str());
    const std::string path = options.path;
    const kvm_options passed = {
        .size = sizeof(kvm_options),
        .durability = static_cast<uint32_t>(options.durability),
        .path = path.c_str(),
        .cache_size = options.cache_size,
        .threads = options.threads,
        .expected_entries = options.expected_entries,
        .key_size = options.key_size,
        .value_size = options.value_size,
        .flags = flags.data(),
        .compression = options.compression,
        .unused = 0};
    Call("open", true, [&](kvm_error* error) {
      return plugin_.open(&passed, &database_, error);
    });
  }
  ~Plugin() override {
    kvm_error ignored;
    if (database_ != nullptr) plugin_.close(database_, &ignored);
  }

  void Close() override {
    Call("close", false, [&](kvm_error* error) {
      return plugin_.close(std::exchange(database_, nullptr), error);
    });
    if (!(plugin_.properties & KVM_KEEPS_THREADS)) {
      RequireThreadsEnded(threads_before_);
    }
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<PluginSession>(plugin_, database_);
  }

  Limits GetLimits() override {
    kvm_limits limits = {};
    limits.size = sizeof(limits);
    if (plugin_.limits) plugin_.limits(database_, &limits);
    const auto limit = [](uint64_t most) {
      return most == 0 ? Limit{} : Limit{.max = most};
    };
    return {.key_size = limit(limits.key_size),
            .value_size = limit(limits.value_size),
            .batch_size = limit(limits.batch_size)};
  }

  void Flush() override { Make("flush", plugin_.flush); }
  void Settle() override { Make("settle", plugin_.settle); }
  void Compact() override {
    if (!plugin_.compact) throw Unsupported("does not compact on request");
    Make("compact", plugin_.compact, true);
  }

  std::map<std::string, std::string> EffectiveSettings() override {
    return Lines(plugin_.settings, database_);
  }

  std::map<std::string, uint64_t> Counters() override {
    std::map<std::string, uint64_t> counters;
    if (!plugin_.counters) return counters;
    for (const auto& [name, count] : Lines(plugin_.counters, database_)) {
      counters[name] = std::stoull(count);
    }
    return counters;
  }

 private:
  void Make(const char* name, kvm_status (*call)(void*, kvm_error*),
            bool may_refuse = false) {
    Call(name, may_refuse,
         [&](kvm_error* error) { return call(database_, error); });
  }

  const kvm_driver& plugin_;
  const size_t threads_before_;
  void* database_ = nullptr;
};

std::unique_ptr<Database> Open(const Options& options) {
  auto database = std::make_unique<Plugin>(plugin, options);
  if (partner.open == nullptr) return database;
  return OpenDuet(std::move(database), options, [](const Options& copy) {
    return std::make_unique<Plugin>(partner, copy);
  });
}

Driver Describe() {
  return {.name = plugin.name,
          .licence = plugin.licence,
          .codec = plugin.codec,
          .scans = static_cast<ScanSupport>(plugin.scans),
          .stores = Stores(),
          .guarantees = [] { return GuaranteesOf(plugin); },
          .version = [] { return VersionOf(plugin); },
          .code = plugin.code ? plugin.code
                              : reinterpret_cast<const void*>(plugin.version),
          .open = Open,
          .rehearses = [] { return CompilesLate() && jit_warmup; },
          .hides_barriers = (plugin.properties & KVM_OWN_SYSTEM_CALLS) != 0};
}

}  // namespace

const Driver& SelectDriver(std::vector<const char*>& words) {
  const PluginPaths paths = TakePluginFlags(words);
  plugin = {LoadPlugin(kDriverFlag, paths.driver)};
  DefineFlags(plugin);
  if (!paths.duet.empty()) {
    partner = {LoadPlugin(kDuetFlag, paths.duet)};
    RequireDuet(plugin, partner);
  }
  if (CompilesLate()) {
    DefineFlag("jit_warmup",
               "run each benchmark on a scratch database until its rate is "
               "steady, at most 10 s, before it is measured",
               jit_warmup);
  }
  facts = kBuildFacts;
  facts.origin = plugin.origin;
  facts.origin_sha256 = plugin.origin_sha256 ? plugin.origin_sha256 : "";
  facts.engine_flags = plugin.engine_flags ? plugin.engine_flags : "";
  return selected = Describe();
}

const BuildFacts& GetBuildFacts() { return facts; }

}  // namespace kvmatrix
