package kvmatrix

import "bytes"

// Cursor moves through the entries of an engine in the order of their keys.  Its
// methods return an entry, or nil if there is none.
type Cursor interface {
	Seek(key []byte) (k, v []byte) // moves to the first entry at or after `key`
	Last() (k, v []byte)
	Next() (k, v []byte)
	Prev() (k, v []byte)
}

// Walk visits the entries of a cursor as Database.Scan does.
func Walk(cursor Cursor, start []byte, backward bool, visit func(key, value []byte) bool) {
	key, value := cursor.Seek(start)
	next := cursor.Next
	if backward {
		next = cursor.Prev
		if len(start) == 0 || key == nil {
			key, value = cursor.Last()
		} else if !bytes.Equal(key, start) {
			key, value = cursor.Prev()
		}
	}
	for key != nil && visit(key, value) {
		key, value = next()
	}
}

// Iterator is a cursor in LevelDB's form: its methods return whether it is at an entry.
type Iterator interface {
	Seek(key []byte) bool // moves to the first entry at or after `key`
	Last() bool
	Next() bool
	Prev() bool
	Key() []byte
	Value() []byte
}

// Iterate is Walk for an Iterator.
func Iterate(it Iterator, start []byte, backward bool, visit func(key, value []byte) bool) {
	valid := it.Seek(start)
	next := it.Next
	if backward {
		next = it.Prev
		if len(start) == 0 || !valid {
			valid = it.Last()
		} else if !bytes.Equal(it.Key(), start) {
			valid = it.Prev()
		}
	}
	for valid && visit(it.Key(), it.Value()) {
		valid = next()
	}
}
