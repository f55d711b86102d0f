package kvmatrix

// #cgo CFLAGS: -I${SRCDIR}/../plugins
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// An openDatabase is what a database is for C, which may hold its address while it
// is pinned.
type openDatabase struct {
	Database
	limits   Limits
	settings string
	failure  *firstError
	pin      runtime.Pinner
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

// open opens the engine, and reads its limits and settings while an error can be returned.
func open(options Options) (*openDatabase, error) {
	if _, _, err := module(); err != nil {
		return nil, err
	}
	setRuntime(options)
	database, err := registered.Open(options)
	if err != nil {
		return nil, err
	}
	if database == nil {
		return nil, errors.New("Driver.Open returned neither a database nor an error")
	}
	opened := &openDatabase{Database: database, failure: options.failure}
	if limited, ok := database.(Limited); ok {
		opened.limits = limited.Limits()
	}
	opened.settings = lines(inForce(database.Settings(), options))
	return opened, nil
}

//export KvmGoOpen
func KvmGoOpen(options *C.kvm_options, handle *unsafe.Pointer, failure *C.kvm_error) (status C.kvm_status) {
	defer contain(failure, begin(&status))
	parsed, err := toOptions(options)
	if err != nil {
		return answer(failure, err)
	}
	opened, err := open(parsed)
	if err != nil {
		return answer(failure, err)
	}
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
	limits := (*openDatabase)(handle).limits
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
