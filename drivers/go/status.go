package kvmatrix

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

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
// call recover, which takes 1 to 3 ns of a get, if the call has returned.
func contain(failure *C.kvm_error, status *C.kvm_status) {
	if *status == unfinished {
		explain(failure, fmt.Sprint("panic: ", recover(), whereItPanicked()))
		*status = C.KVM_FAILED
	}
}

// whereItPanicked returns the innermost function of the engine.
func whereItPanicked() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if name, _, _ := strings.Cut(frame.Function, "."); name != "runtime" && name != "kvmatrix" {
			return fmt.Sprintf(" in %s, %s:%d", frame.Function, frame.File, frame.Line)
		}
	}
	return ""
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
