// Makes a plug-in of a driver that is written for common/driver.h: compiled
// together with the file that defines kDriver, it exports kvm_driver_get().
// The gflags/gflags.h of this folder has the driver's flags: they have the
// values of the program once a database has been opened, or guarantees asked.

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "common/driver.h"
#include "gflags/gflags.h"
#include "kvmatrix/driver.h"

#ifndef KVM_ORIGIN_SHA256
#define KVM_ORIGIN_SHA256 ""  // of the engine's library, or of its source
#endif
#ifndef KVM_PROPERTIES
#define KVM_PROPERTIES \
  0  // those that kDriver cannot have: KVM_KEEPS_THREADS, ...
#endif

namespace kvmatrix {
namespace {

kvm_bytes ToBytes(std::string_view s) { return {s.data(), s.size()}; }
std::string_view ToView(kvm_bytes b) { return {b.data, b.size}; }

void Explain(kvm_error* error, const char* text) {
  std::strncpy(error->text, text, sizeof(error->text) - 1);
  error->text[sizeof(error->text) - 1] = '\0';
}

// Calls `function`, which returns a status, and turns exceptions into one.
template <typename Function>
kvm_status Answer(kvm_error* error, Function function) {
  try {
    return function();
  } catch (const Unsupported& reason) {
    Explain(error, reason.what());
    return KVM_UNSUPPORTED;
  } catch (const std::exception& problem) {
    Explain(error, problem.what());
  } catch (...) {
    Explain(error, "the engine threw what is no std::exception");
  }
  return KVM_FAILED;
}

struct ExportedSession {
  std::unique_ptr<Session> session;
  std::vector<Update> updates;  // here to reuse its memory
};

Database& DatabaseOf(void* p) { return *static_cast<Database*>(p); }
ExportedSession& SessionOf(void* p) {
  return *static_cast<ExportedSession*>(p);
}

void SetFlags(const char* const* values) {
  for (const PluginFlag& flag : PluginFlags()) flag.set(*values++);
}

kvm_status Open(const kvm_options* o, void** database, kvm_error* error) {
  return Answer(error, [&] {
    SetFlags(o->flags);
    const Options options = {
        .path = o->path,
        .cache_size = o->cache_size,
        .compression = o->compression != 0,
        .durability = static_cast<Durability>(o->durability),
        .threads = o->threads,
        .expected_entries = o->expected_entries,
        .key_size = o->key_size,
        .value_size = o->value_size};
    *database = kDriver.open(options).release();
    return KVM_OK;
  });
}

kvm_status Close(void* p, kvm_error* error) {
  const std::unique_ptr<Database> database(&DatabaseOf(p));
  return Answer(error, [&] {
    database->Close();
    return KVM_OK;
  });
}

void GetLimits(void* database, kvm_limits* result) {
  const Limits limits = DatabaseOf(database).GetLimits();
  const auto most = [](const Limit& limit) {
    return limit.max == Limit().max ? 0 : limit.max;
  };
  result->key_size = most(limits.key_size);
  result->value_size = most(limits.value_size);
  result->batch_size = most(limits.batch_size);
}

// Makes a call without arguments.
template <void (Database::*kMethod)()>
kvm_status Make(void* database, kvm_error* error) {
  return Answer(error, [&] {
    (DatabaseOf(database).*kMethod)();
    return KVM_OK;
  });
}

size_t WriteText(const std::string& all, char* text, size_t room) {
  std::copy_n(all.data(), std::min(room, all.size()), text);
  return all.size();
}

size_t Settings(void* database, char* text, size_t room) {
  std::string all;
  for (const auto& [name, value] : DatabaseOf(database).EffectiveSettings()) {
    all += name + "=" + value + "\n";
  }
  return WriteText(all, text, room);
}

size_t Counters(void* database, char* text, size_t room) {
  std::string all;
  for (const auto& [name, count] : DatabaseOf(database).Counters()) {
    all += name + "=" + std::to_string(count) + "\n";
  }
  return WriteText(all, text, room);
}

kvm_status NewSession(void* database, void** session, kvm_error* error) {
  return Answer(error, [&] {
    *session = new ExportedSession{DatabaseOf(database).NewSession(), {}};
    return KVM_OK;
  });
}

void End(void* session) { delete &SessionOf(session); }

kvm_status Write(void* p, const kvm_update* updates, size_t n,
                 kvm_error* error) {
  return Answer(error, [&] {
    ExportedSession& session = SessionOf(p);
    session.updates.clear();
    for (const kvm_update& update : std::span(updates, n)) {
      session.updates.push_back({ToView(update.key), {}});
      if (!update.is_delete) {
        session.updates.back().value = ToView(update.value);
      }
    }
    session.session->Write(session.updates);
    return KVM_OK;
  });
}

kvm_status Get(void* p, kvm_bytes key, kvm_bytes* value, kvm_error* error) {
  return Answer(error, [&] {
    const auto found = SessionOf(p).session->Get(ToView(key));
    if (!found) return KVM_ABSENT;
    *value = ToBytes(*found);
    return KVM_OK;
  });
}

kvm_status Scan(void* p, kvm_bytes start, int backward, kvm_visit visit,
                void* context, kvm_error* error) {
  return Answer(error, [&] {
    const Order order = backward ? Order::kBackward : Order::kForward;
    SessionOf(p).session->Scan(
        ToView(start), order, [&](std::string_view key, std::string_view v) {
          const kvm_entry entry = {ToBytes(key), ToBytes(v)};
          return visit(context, &entry, 1) != 0;
        });
    return KVM_OK;
  });
}

const char* Version() {
  static const std::string version = kDriver.version();
  return version.c_str();
}

void DocumentedGuarantees(const char* const* flags, kvm_guarantee result[3]) {
  SetFlags(flags);
  for (const auto& [promise, source] : kDriver.guarantees()) {
    const int offered =
        promise ? KVM_LOSES_NOTHING + static_cast<int>(*promise) : 0;
    *result++ = {static_cast<kvm_promise>(offered), source};
  }
}

// Returns the flags as the interface has them; they live as long as the
// plug-in.
const std::vector<kvm_flag>& Flags() {
  static const std::vector<kvm_flag> flags = [] {
    std::vector<kvm_flag> all;
    for (const PluginFlag& flag : PluginFlags()) {
      all.push_back({flag.name.c_str(), flag.type.c_str(),
                     flag.default_value.c_str(), flag.help.c_str()});
    }
    return all;
  }();
  return flags;
}

kvm_driver Describe() {
  kvm_driver driver = {};
  driver.abi = KVM_ABI;
  driver.size = sizeof(kvm_driver);
  driver.name = kDriver.name;
  driver.licence = kDriver.licence;
  driver.codec = kDriver.codec;
  driver.origin = KVM_ORIGIN;
  driver.origin_sha256 = KVM_ORIGIN_SHA256;
  driver.scans = static_cast<kvm_scans>(kDriver.scans);
  driver.properties =
      KVM_PROPERTIES | (kDriver.stores ? 0 : KVM_STORES_NOTHING);
  driver.flags = Flags().data();
  driver.flag_count = Flags().size();
  driver.code = kDriver.code;
  driver.version = Version;
  driver.guarantees = DocumentedGuarantees;
  driver.open = Open;
  driver.close = Close;
  driver.limits = GetLimits;
  driver.flush = Make<&Database::Flush>;
  driver.settle = Make<&Database::Settle>;
  driver.compact = Make<&Database::Compact>;
  driver.settings = Settings;
  driver.counters = Counters;
  driver.session = NewSession;
  driver.end = End;
  driver.write = Write;
  driver.get = Get;
  driver.scan = Scan;
  return driver;
}

}  // namespace
}  // namespace kvmatrix

extern "C" [[gnu::visibility("default")]] const kvm_driver* kvm_driver_get(
    uint32_t abi) {
  static const kvm_driver driver = kvmatrix::Describe();
  return abi == KVM_ABI ? &driver : nullptr;
}
