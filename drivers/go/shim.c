// The functions of kvm_driver, which call those that export.go exports.  A
// handle is an integer: C may not hold a pointer to Go's memory.

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
  RESTORING_MASK(kvm_status,
                 KvmGoOpen((kvm_options*)options, (uintptr_t*)database, error));
}

static kvm_status Close(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoClose((uintptr_t)database, error));
}

static void GetLimits(void* database, kvm_limits* limits) {
  KvmGoLimits((uintptr_t)database, limits);
}

static kvm_status Flush(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoFlush((uintptr_t)database, error));
}

static kvm_status Settle(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoSettle((uintptr_t)database, error));
}

static kvm_status Compact(void* database, kvm_error* error) {
  RESTORING_MASK(kvm_status, KvmGoCompact((uintptr_t)database, error));
}

static size_t Settings(void* database, char* text, size_t room) {
  RESTORING_MASK(size_t, KvmGoSettings((uintptr_t)database, text, room));
}

static kvm_status Session(void* database, void** session, kvm_error* error) {
  RESTORING_MASK(kvm_status,
                 KvmGoSession((uintptr_t)database, (uintptr_t*)session, error));
}

static void End(void* session) { KvmGoEnd((uintptr_t)session); }

static kvm_status Write(void* session, const kvm_update* updates, size_t n,
                        kvm_error* error) {
  return KvmGoWrite((uintptr_t)session, (kvm_update*)updates, n, error);
}

static kvm_status Get(void* session, kvm_bytes key, kvm_bytes* value,
                      kvm_error* error) {
  return KvmGoGet((uintptr_t)session, key, value, error);
}

static kvm_status GetBlock(void* session, const kvm_bytes* keys, size_t n,
                           kvm_bytes* values, kvm_error* error) {
  return KvmGoGetBlock((uintptr_t)session, (kvm_bytes*)keys, n, values, error);
}

static kvm_status Scan(void* session, kvm_bytes start, int backward,
                       kvm_visit visit, void* context, kvm_error* error) {
  return KvmGoScan((uintptr_t)session, start, backward, visit, context, error);
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
    .limits = GetLimits,
    .flush = Flush,
    .settle = Settle,
    .compact = Compact,
    .settings = Settings,
    .session = Session,
    .end = End,
    .write = Write,
    .get = Get,
    .scan = Scan,
    .get_block = GetBlock,
};

const kvm_driver* kvm_driver_get(uint32_t abi) {
  if (abi != KVM_ABI) return NULL;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  KvmGoDescribe(&driver);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return &driver;
}
