// The C side of the bridge, as the Go side sees it.

#ifndef DRIVERS_GO_SHIM_H_
#define DRIVERS_GO_SHIM_H_

#include "kvmatrix/driver.h"

// Calls `visit`, which Go cannot do.
int KvmVisit(kvm_visit visit, void* context, kvm_entry* entries, size_t n);

#endif  // DRIVERS_GO_SHIM_H_
