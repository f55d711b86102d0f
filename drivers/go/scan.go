package kvmatrix

// #include "shim.h"
import "C"

import "unsafe"

const (
	mostEntries = 64       // of a chunk
	chunkRoom   = 64 << 10 // bytes of a chunk of several entries
)

// A scan collects entries in memory of C and hands them to the visitor in chunks.
// A chunk is a quarter as long as all before it, so that a scan that is stopped
// has read few entries too many, and a long one crosses seldom.
type scan struct {
	visit   C.kvm_visit
	context unsafe.Pointer
	add     func(key, value []byte) bool // is collect
	entries memory                       // for mostEntries
	data    memory
	used    int // bytes of data
	count   int // entries in the chunk
	visited int // entries before it
}

func (s *scan) init() {
	s.entries = newMemory(mostEntries * C.sizeof_kvm_entry)
	s.data = newMemory(chunkRoom)
	s.add = s.collect
}

func (s *scan) free() {
	s.entries.free()
	s.data.free()
}

// begin returns the function to call with each entry.
func (s *scan) begin(visit C.kvm_visit, context unsafe.Pointer) func(key, value []byte) bool {
	s.visit, s.context = visit, context
	s.used, s.count, s.visited = 0, 0, 0
	return s.add
}

func (s *scan) collect(key, value []byte) bool {
	if needed := len(key) + len(value); s.used+needed > len(s.data.bytes) {
		if !s.end() {
			return false
		}
		if needed > len(s.data.bytes) {
			s.data.free()
			s.data = newMemory(needed)
		}
	}
	entry := &unsafe.Slice((*C.kvm_entry)(unsafe.Pointer(&s.entries.bytes[0])), mostEntries)[s.count]
	entry.key = s.keep(key)
	entry.value = s.keep(value)
	s.count++
	if s.count < mostEntries && s.count <= s.visited/4 {
		return true
	}
	return s.end()
}

func (s *scan) keep(bytes []byte) C.kvm_bytes {
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.data.bytes)), s.used)
	s.used += copy(s.data.bytes[s.used:], bytes)
	return C.kvm_bytes{data: (*C.char)(at), size: C.size_t(len(bytes))}
}

// end hands the chunk to the visitor and returns whether the scan is to go on.
func (s *scan) end() bool {
	if s.count == 0 {
		return true
	}
	entries := (*C.kvm_entry)(unsafe.Pointer(&s.entries.bytes[0]))
	more := C.KvmVisit(s.visit, s.context, entries, C.size_t(s.count)) != 0
	s.visited += s.count
	s.used, s.count = 0, 0
	return more
}
