package kvmatrix

// #cgo CFLAGS: -I${SRCDIR}/../plugins
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// An openDatabase is what a handle of C stands for.
type openDatabase struct{ Database }

// An openSession has the memory that belongs to a session.
type openSession struct {
	Session
	values memory   // of the last get
	batch  []Update // here to reuse its memory
	scan   scan
}

var (
	databases handles[openDatabase]
	sessions  handles[openSession]
)

// view returns memory of the harness as a slice.
func view(b C.kvm_bytes) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b.data)), b.size)
}

func explain(failure *C.kvm_error, text string) {
	room := unsafe.Slice((*byte)(unsafe.Pointer(&failure.text[0])), len(failure.text))
	room[copy(room[:len(room)-1], text)] = 0
}

// contain is deferred by each call from C, which no panic may leave.
func contain(failure *C.kvm_error, status *C.kvm_status) {
	if problem := recover(); problem != nil {
		explain(failure, fmt.Sprint("panic: ", problem))
		*status = C.KVM_FAILED
	}
}

func answer(failure *C.kvm_error, err error) C.kvm_status {
	if err == nil {
		return C.KVM_OK
	}
	explain(failure, err.Error())
	var unsupported Unsupported
	if errors.As(err, &unsupported) {
		return C.KVM_UNSUPPORTED
	}
	return C.KVM_FAILED
}

//export KvmGoOpen
func KvmGoOpen(options *C.kvm_options, id *C.uintptr_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	parsed, err := toOptions(options)
	if err != nil {
		return answer(failure, err)
	}
	setRuntime(parsed.Flags)
	database, err := registered.Open(parsed)
	if err != nil {
		return answer(failure, err)
	}
	*id = C.uintptr_t(databases.add(&openDatabase{database}))
	return C.KVM_OK
}

//export KvmGoClose
func KvmGoClose(id C.uintptr_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	return answer(failure, databases.remove(uintptr(id)).Close())
}

//export KvmGoLimits
func KvmGoLimits(id C.uintptr_t, result *C.kvm_limits) {
	limited, ok := databases.at(uintptr(id)).Database.(interface{ Limits() Limits })
	if !ok {
		return
	}
	limits := limited.Limits()
	result.key_size = C.uint64_t(limits.KeySize)
	result.value_size = C.uint64_t(limits.ValueSize)
	result.batch_size = C.uint64_t(limits.BatchSize)
}

//export KvmGoFlush
func KvmGoFlush(id C.uintptr_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	return answer(failure, databases.at(uintptr(id)).Flush())
}

//export KvmGoSettle
func KvmGoSettle(id C.uintptr_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	return answer(failure, databases.at(uintptr(id)).Settle())
}

//export KvmGoCompact
func KvmGoCompact(id C.uintptr_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	return answer(failure, databases.at(uintptr(id)).Compact())
}

//export KvmGoSession
func KvmGoSession(id C.uintptr_t, session *C.uintptr_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	opened, err := databases.at(uintptr(id)).NewSession()
	if err != nil {
		return answer(failure, err)
	}
	created := &openSession{Session: opened, values: newMemory(firstRoom)}
	created.scan.init()
	*session = C.uintptr_t(sessions.add(created))
	return C.KVM_OK
}

//export KvmGoEnd
func KvmGoEnd(id C.uintptr_t) {
	session := sessions.remove(uintptr(id))
	if closer, ok := session.Session.(interface{ Close() }); ok {
		closer.Close()
	}
	session.values.free()
	session.scan.free()
}

//export KvmGoWrite
func KvmGoWrite(id C.uintptr_t, updates *C.kvm_update, n C.size_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	session := sessions.at(uintptr(id))
	session.batch = session.batch[:0]
	for _, update := range unsafe.Slice(updates, n) {
		session.batch = append(session.batch,
			Update{view(update.key), view(update.value), update.is_delete != 0})
	}
	return answer(failure, session.Write(session.batch))
}

//export KvmGoGet
func KvmGoGet(id C.uintptr_t, key C.kvm_bytes, value *C.kvm_bytes, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	session := sessions.at(uintptr(id))
	found, exists, err := session.Get(view(key), session.values.empty())
	if err != nil {
		return answer(failure, err)
	}
	if !exists {
		return C.KVM_ABSENT
	}
	value.data = session.values.hold(found)
	value.size = C.size_t(len(found))
	return C.KVM_OK
}

//export KvmGoGetBlock
func KvmGoGetBlock(id C.uintptr_t, keys *C.kvm_bytes, n C.size_t, values *C.kvm_bytes, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	session := sessions.at(uintptr(id))
	all := session.values.empty()
	at := session.values.hold(all)
	results := unsafe.Slice(values, n)
	for i, key := range unsafe.Slice(keys, n) {
		found, exists, err := session.Get(view(key), all)
		if err != nil {
			return answer(failure, err)
		}
		if !exists {
			results[i] = C.kvm_bytes{}
			continue
		}
		// Not a pointer to Go's memory, to which the values may have moved.
		results[i].data = (*C.char)(unsafe.Add(unsafe.Pointer(at), len(all)))
		results[i].size = C.size_t(len(found) - len(all))
		all = found
	}
	if now := session.values.hold(all); now != at {
		for i := range results {
			if results[i].data != nil {
				offset := uintptr(unsafe.Pointer(results[i].data)) - uintptr(unsafe.Pointer(at))
				results[i].data = (*C.char)(unsafe.Add(unsafe.Pointer(now), offset))
			}
		}
	}
	return C.KVM_OK
}

//export KvmGoScan
func KvmGoScan(id C.uintptr_t, start C.kvm_bytes, backward C.int, visit C.kvm_visit, context unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, &status)
	session := sessions.at(uintptr(id))
	add := session.scan.begin(visit, context)
	if err := session.Scan(view(start), backward != 0, add); err != nil {
		return answer(failure, err)
	}
	session.scan.end()
	return C.KVM_OK
}
