/* The interface between kvmatrix and a storage engine in a shared object.
 *
 * A plug-in exports one symbol, kvm_driver_get(), and is measured by
 * `db_bench_plugin --driver=PATH`.  The contract of each call is that of the
 * method of the same name in common/driver.h; what is said here is added to it.
 * A plug-in does not write to standard output, change the signal mask of a
 * calling thread, let an exception pass, or leave threads when a database has
 * been closed (KVM_KEEPS_THREADS): each of these ends the measurement.
 *
 * Fields are only ever appended, to the structs that begin with their size; one
 * that is no longer read keeps its place.  A reader ignores what it does not
 * know, and treats what is absent as 0. */

#ifndef KVMATRIX_DRIVER_H_
#define KVMATRIX_DRIVER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVM_ABI 1 /* changes if an old plug-in can no longer be loaded */

typedef struct kvm_bytes {
  const char* data;
  size_t size;
} kvm_bytes;

/* What a call returns.  KVM_ABSENT is an answer of get, KVM_UNSUPPORTED one of
 * open and compact; after KVM_FAILED the session is not used again. */
typedef enum kvm_status {
  KVM_OK,
  KVM_ABSENT,
  KVM_UNSUPPORTED,
  KVM_FAILED
} kvm_status;

/* Why a call returned KVM_UNSUPPORTED or KVM_FAILED, for the user; ends in 0.*/
typedef struct kvm_error {
  char text[512];
} kvm_error;

typedef struct kvm_update {
  kvm_bytes key, value;
  int32_t is_delete; /* then there is no value */
} kvm_update;

typedef struct kvm_entry {
  kvm_bytes key, value;
} kvm_entry;

typedef enum kvm_durability {
  KVM_BUFFERED,
  KVM_CONSISTENT,
  KVM_DURABLE
} kvm_durability;

typedef struct kvm_options {
  uint32_t size;                 /* of this struct, in bytes */
  uint32_t durability;           /* kvm_durability */
  const char* path;              /* an existing directory; ends in 0 */
  uint64_t cache_size;           /* in bytes */
  uint64_t threads;              /* sessions that will be used at once */
  uint64_t expected_entries;     /* a hint, as are the next two; 0: unknown */
  uint64_t key_size, value_size; /* in bytes */
  const char* const* flags;      /* a value for each of kvm_driver.flags */
  uint32_t compression;          /* 1: compress if the engine has a codec */
  uint32_t unused;
} kvm_options;

/* The most that a write may contain; 0: no limit. */
typedef struct kvm_limits {
  uint32_t size, unused;
  uint64_t key_size, value_size; /* in bytes */
  uint64_t batch_size;           /* updates; 1: no atomic batches */
} kvm_limits;

/* A setting that only this engine has, a flag of db_bench_plugin: of a-z, 0-9
 * and _, a letter first, and no flag that exists already. */
typedef struct kvm_flag {
  const char* name;          /* as in db_bench, such as "bloom_bits" */
  const char* type;          /* "bool", "int32", "uint32", "int64", "uint64",
                              * "double", "string" */
  const char* default_value; /* "true", "4096", "0.5", "lz4" */
  const char* help;
} kvm_flag;

typedef enum kvm_promise {
  KVM_NOT_OFFERED, /* open is not called, unless nothing is stored */
  KVM_LOSES_NOTHING,
  KVM_LOSES_NEWEST,
  KVM_MAY_BE_CORRUPT
} kvm_promise;

typedef struct kvm_guarantee {
  kvm_promise promise;
  const char* source; /* the address where the engine documents it */
} kvm_guarantee;

/* Receives the next `n` > 0 entries of a scan; 0 stops it. */
typedef int (*kvm_visit)(void* context, const kvm_entry* entries, size_t n);

typedef enum kvm_scans { KVM_UNORDERED, KVM_FORWARD, KVM_BOTH_WAYS } kvm_scans;

enum {
  KVM_STORES_NOTHING = 1,  /* a null engine: shows what crossing costs */
  KVM_KEEPS_THREADS = 2,   /* a language's runtime has threads of its own */
  KVM_COMPILES_LATE = 4,   /* just in time: slow until it has been warmed up */
  KVM_OWN_SYSTEM_CALLS = 8 /* not through the C library: barriers are unknown */
};

typedef struct kvm_driver {
  uint32_t abi;                       /* KVM_ABI */
  uint32_t size;                      /* of this struct, in bytes */
  const char *name, *licence, *codec; /* codec "": none */
  /* Where the engine's source comes from, such as "crate redb 4.5.0"; the
   * SHA-256 of its archive, and the flags of its compiler, or 0. */
  const char *origin, *origin_sha256, *engine_flags;
  uint32_t scans;      /* kvm_scans */
  uint32_t properties; /* KVM_STORES_NOTHING | ... */
  const kvm_flag* flags;
  size_t flag_count;
  const void* code; /* an address in the engine; 0: it is in the plug-in */
  const char* (*version)(void);
  void (*guarantees)(const char* const* flags, kvm_guarantee result[3]);

  kvm_status (*open)(const kvm_options*, void** database, kvm_error*);
  kvm_status (*close)(void* database, kvm_error*);
  void (*limits)(void* database, kvm_limits*); /* optional */
  kvm_status (*flush)(void* database, kvm_error*);
  kvm_status (*settle)(void* database, kvm_error*);
  kvm_status (*compact)(void* database, kvm_error*); /* optional */
  /* Write "name=value\n" for each setting or counter, at most `room` bytes, and
   * return the bytes that all of them need. */
  size_t (*settings)(void* database, char* text, size_t room);
  size_t (*counters)(void* database, char* text, size_t room); /* optional */

  kvm_status (*session)(void* database, void** session, kvm_error*);
  void (*end)(void* session);
  kvm_status (*write)(void* session, const kvm_update*, size_t n, kvm_error*);
  kvm_status (*get)(void* session, kvm_bytes key, kvm_bytes* value, kvm_error*);
  kvm_status (*scan)(void* session, kvm_bytes start, int backward, kvm_visit,
                     void* context, kvm_error*);
  const void* unused; /* plug-ins of earlier editions have something here */
} kvm_driver;

/* Returns the driver, which lives as long as the process; 0 if the plug-in does
 * not have this version of the interface. */
const kvm_driver* kvm_driver_get(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif /* KVMATRIX_DRIVER_H_ */
