// The functions of kvm_driver, which are or call those that export.go exports.

#include "shim.h"

#include <signal.h>

#include "_cgo_export.h"

int KvmVisit(kvm_visit visit, void* context, kvm_entry* entries, size_t n) {
  return visit(context, entries, n);
}

// The first call of a thread makes it known to the Go runtime, which unblocks
// the signals that it needs.  Those of the measured loop are made by threads
// that have called Session(): they need not restore the mask.
#define RESTORING_MASK(type, call)           \
  sigset_t mask;                             \
  pthread_sigmask(SIG_SETMASK, NULL, &mask); \
  const type result = (call);                \
  pthread_sigmask(SIG_SETMASK, &mask, NULL); \
  return result

static kvm_status Open(const kvm_options* options, void** database,
                       kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoOpen((kvm_options*)options, database, error));
}

static kvm_status Close(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoClose(database, error));
}

static kvm_status Flush(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoFlush(database, error));
}

static kvm_status Settle(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoSettle(database, error));
}

static kvm_status Compact(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoCompact(database, error));
}

static size_t Settings(void* database, char* text, size_t room) {
  RESTORING_MASK(size_t, KvmGoSettings(database, text, room));
}

static kvm_status Session(void* database, void** session, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoSession(database, session, error));
}

static kvm_status Write(void* session, const kvm_update* updates, size_t n,
                        kvm_error* error) {
  return KvmGoWrite(session, (kvm_update*)updates, n, error);
}

static const char* Version(void) { return KvmGoVersion(); }

static void Guarantees(const char* const* flags, kvm_guarantee result[3]) {
  (void)flags;
  KvmGoGuarantees(result);
}

static kvm_driver driver = {
    .abi = KVM_ABI,
    .size = sizeof(kvm_driver),
    .version = Version,
    .guarantees = Guarantees,
    .open = Open,
    .close = Close,
    .limits = KvmGoLimits,
    .flush = Flush,
    .settle = Settle,
    .compact = Compact,
    .settings = Settings,
    .session = Session,
    .end = KvmGoEnd,
    .write = Write,
    .get = KvmGoGet,
    .scan = KvmGoScan,
};

const kvm_driver* kvm_driver_get(uint32_t abi) {
  if (abi != KVM_ABI) return NULL;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  KvmGoDescribe(&driver);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return &driver;
}
