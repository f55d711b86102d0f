package kvmatrix

// #include <stdlib.h>
// #include "shim.h"
import "C"

import "unsafe"

// firstRoom is how much memory a session has at first, in bytes.
const firstRoom = 4 << 10

// memory is a buffer of C, which may hold it after a call has returned.
type memory struct{ bytes []byte }

func newMemory(room int) memory {
	return memory{unsafe.Slice((*byte)(C.malloc(C.size_t(room))), room)}
}

func (m *memory) free() { C.free(unsafe.Pointer(unsafe.SliceData(m.bytes))) }

// empty returns the memory as a slice to append to.
func (m *memory) empty() []byte { return m.bytes[:0] }

// hold moves `filled` to this memory if appending has moved it elsewhere, and
// returns where it is.
func (m *memory) hold(filled []byte) *C.char {
	if unsafe.SliceData(filled) != unsafe.SliceData(m.bytes) {
		m.take(filled)
	}
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(m.bytes)))
}

func (m *memory) take(filled []byte) {
	if len(filled) > len(m.bytes) {
		m.free()
		*m = newMemory(2 * len(filled))
	}
	copy(m.bytes, filled)
}
