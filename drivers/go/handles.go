package kvmatrix

import (
	"sync"
	"sync/atomic"
)

// Handles are integers that stand for objects of Go.  C may not hold a pointer to
// them.  Looking one up takes no lock: each change makes a new list.
type handles[T any] struct {
	mutex   sync.Mutex // held during a change
	objects atomic.Pointer[[]*T]
}

// at returns the object of a handle.
func (h *handles[T]) at(handle uintptr) *T { return (*h.objects.Load())[handle-1] }

// add returns a handle, which is not 0.
func (h *handles[T]) add(object *T) uintptr {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	objects := h.copied()
	place := 0
	for place < len(objects) && objects[place] != nil {
		place++
	}
	if place == len(objects) {
		objects = append(objects, nil)
	}
	objects[place] = object
	h.objects.Store(&objects)
	return uintptr(place + 1)
}

// remove ends a handle and returns its object.
func (h *handles[T]) remove(handle uintptr) *T {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	objects := h.copied()
	object := objects[handle-1]
	objects[handle-1] = nil
	h.objects.Store(&objects)
	return object
}

func (h *handles[T]) copied() []*T {
	if objects := h.objects.Load(); objects != nil {
		return append([]*T(nil), *objects...)
	}
	return nil
}
