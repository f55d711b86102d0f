package kvmatrix

// #cgo CFLAGS: -I${SRCDIR}/../plugins
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// An openDatabase is what a database is for C, which may hold its address while it
// is pinned.
type openDatabase struct {
	Database
	Options
	pin runtime.Pinner
}

// An openSession is a thread's session likewise, with the memory that belongs to it.
type openSession struct {
	Database
	pin    runtime.Pinner
	values memory   // of the last get
	batch  []Update // here to reuse its memory
	scan   scan
}

// find is Get without the error that means that the key is absent.
func (s *openSession) find(key, to []byte) (value []byte, found bool, err error) {
	value, found, err = s.Get(key, to)
	if err != nil && err == registered.NotFound {
		return nil, false, nil
	}
	return value, found, err
}

// view returns memory of the harness as a slice.
func view(b C.kvm_bytes) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b.data)), b.size)
}

func explain(failure *C.kvm_error, text string) {
	room := unsafe.Slice((*byte)(unsafe.Pointer(&failure.text[0])), len(failure.text))
	room[copy(room[:len(room)-1], text)] = 0
}

// unfinished is the status of a call that has not returned.
const unfinished C.kvm_status = 1 << 30

// begin marks a call as unfinished.
func begin(status *C.kvm_status) *C.kvm_status {
	*status = unfinished
	return status
}

// contain is deferred by each call from C, which no panic may leave.  It does not
// call recover, which costs 2 ns, if the call has returned.
func contain(failure *C.kvm_error, status *C.kvm_status) {
	if *status == unfinished {
		explain(failure, fmt.Sprint("panic: ", recover()))
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
func KvmGoOpen(options *C.kvm_options, handle *unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	parsed, err := toOptions(options)
	if err != nil {
		return answer(failure, err)
	}
	setRuntime(parsed)
	database, err := registered.Open(parsed)
	if err != nil {
		return answer(failure, err)
	}
	opened := &openDatabase{Database: database, Options: parsed}
	opened.pin.Pin(opened)
	*handle = unsafe.Pointer(opened)
	return C.KVM_OK
}

//export KvmGoClose
func KvmGoClose(handle unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	database := (*openDatabase)(handle)
	database.pin.Unpin()
	if err := database.failure.get(); err != nil {
		return answer(failure, err)
	}
	return answer(failure, database.Close())
}

//export KvmGoLimits
func KvmGoLimits(handle unsafe.Pointer, result *C.kvm_limits) {
	limited, ok := (*openDatabase)(handle).Database.(Limited)
	if !ok {
		return
	}
	limits := limited.Limits()
	result.key_size = C.uint64_t(limits.KeySize)
	result.value_size = C.uint64_t(limits.ValueSize)
	result.batch_size = C.uint64_t(limits.BatchSize)
}

//export KvmGoFlush
func KvmGoFlush(handle unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	return answer(failure, (*openDatabase)(handle).Flush())
}

//export KvmGoSettle
func KvmGoSettle(handle unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	return answer(failure, (*openDatabase)(handle).settle())
}

//export KvmGoCompact
func KvmGoCompact(handle unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	database := (*openDatabase)(handle)
	if err := database.Compact(); err != nil {
		return answer(failure, err)
	}
	return answer(failure, database.settle())
}

//export KvmGoSession
func KvmGoSession(handle unsafe.Pointer, session *unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	database := (*openDatabase)(handle).Database
	created := &openSession{Database: database, values: newMemory(firstRoom)}
	created.scan.init()
	created.pin.Pin(created)
	*session = unsafe.Pointer(created)
	return C.KVM_OK
}

//export KvmGoEnd
func KvmGoEnd(handle unsafe.Pointer) {
	session := (*openSession)(handle)
	session.pin.Unpin()
	session.values.free()
	session.scan.free()
}

//export KvmGoWrite
func KvmGoWrite(handle unsafe.Pointer, updates *C.kvm_update, n C.size_t, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	session := (*openSession)(handle)
	session.batch = session.batch[:0]
	for _, update := range unsafe.Slice(updates, n) {
		session.batch = append(session.batch,
			Update{view(update.key), view(update.value), update.is_delete != 0})
	}
	return answer(failure, session.Write(session.batch))
}

//export KvmGoGet
func KvmGoGet(handle unsafe.Pointer, key C.kvm_bytes, value *C.kvm_bytes, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	session := (*openSession)(handle)
	found, exists, err := session.find(view(key), session.values.empty())
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
func KvmGoGetBlock(handle unsafe.Pointer, keys *C.kvm_bytes, n C.size_t, values *C.kvm_bytes, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	session := (*openSession)(handle)
	all := session.values.empty()
	at := session.values.hold(all)
	results := unsafe.Slice(values, n)
	for i, key := range unsafe.Slice(keys, n) {
		found, exists, err := session.find(view(key), all)
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
func KvmGoScan(handle unsafe.Pointer, start C.kvm_bytes, backward C.int, visit C.kvm_visit, context unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	session := (*openSession)(handle)
	add := session.scan.begin(visit, context)
	if err := session.Scan(view(start), backward != 0, add); err != nil {
		return answer(failure, err)
	}
	session.scan.end()
	return C.KVM_OK
}
