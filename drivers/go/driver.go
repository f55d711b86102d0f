// Package kvmatrix makes a plug-in of a storage engine that is written in Go.
//
// An engine is a package main of one file that calls Register in its init
// function and has an empty main function; README.md shows how it is built.  The
// contract of each call is that of the method of the same name in
// common/driver.h; what is said here is added to it.  A panic becomes an error.
package kvmatrix

import "bytes"

// Durability is what a crash of the machine may do to the database.
type Durability int

// The levels, each of which promises what the one before does.
const (
	Buffered Durability = iota
	Consistent
	Durable
)

// Promise is what an engine's documentation promises for one Durability.
type Promise int

// The promises; a database is not opened at a level that is NotOffered.
const (
	NotOffered Promise = iota
	LosesNothing
	LosesNewest
	MayBeCorrupt
)

// Guarantee is a promise and the address where the engine documents it.
type Guarantee struct {
	Promise Promise
	Source  string
}

// Documented returns what the page `source` promises at each Durability.
func Documented(source string, buffered, consistent, durable Promise) [3]Guarantee {
	return [3]Guarantee{{buffered, source}, {consistent, source}, {durable, source}}
}

// Flag is a setting that only this engine has, with db_bench's name for it.  The
// type of Default is bool, uint64 or string: Options.Bool, Int or Text returns the
// value.
type Flag struct {
	Name    string
	Default any
	Help    string
}

// Options says how to open a database.
type Options struct {
	Path               string // an existing directory
	CacheSize          uint64 // in bytes
	Compression        bool   // compress if the engine has a codec
	Durability         Durability
	Threads            uint64 // sessions that will be used at once
	ExpectedEntries    uint64 // a hint, as are the next two; 0: unknown
	KeySize, ValueSize uint64 // in bytes
	flags              map[string]any
}

// Limits is the most that a Write may contain; 0 means no limit.
type Limits struct {
	KeySize, ValueSize uint64 // in bytes
	BatchSize          uint64 // updates; 1: a crash may leave a part of a batch
}

// Update is a put, or a delete without a value.  Its slices are memory of the
// harness: they are valid during the call, and an engine may not change them.
type Update struct {
	Key, Value []byte
	Delete     bool
}

// Apply calls `put` or `remove` for each update, until an error.
func Apply(batch []Update, put func(key, value []byte) error, remove func(key []byte) error) error {
	for _, update := range batch {
		var err error
		if update.Delete {
			err = remove(update.Key)
		} else {
			err = put(update.Key, update.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

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

// Database is an open database.  Get, Write and Scan are called by many goroutines at
// once, every other method by one and not during those calls.  If Write has limits, it
// has a method Limits.
type Database interface {
	// Get appends the value of `key`, which is valid during the call, to `to`, like
	// append(to, value...).  An error that equals Driver.NotFound means that the
	// key is absent.
	Get(key, to []byte) (value []byte, found bool, err error)

	// Write applies all updates, as one atomic batch.
	Write(batch []Update) error

	// Scan calls `visit` for entries in key order until it returns false.  The
	// slices passed to it are copied.  An empty `start` means the first entry, or
	// the last one if the scan is backward.
	Scan(start []byte, backward bool, visit func(key, value []byte) bool) error

	Flush() error
	Settle() error
	Compact() error // may return Unsupported; Settle is called next
	// Settings are the settings in force, read back from the engine.  Those of
	// the Go runtime are added to them.
	Settings() map[string]any
	Close() error
}

// Defaults has the methods of a Database that hands over all that is written at once,
// does no work in the background and does not compact.  An engine embeds it and
// replaces those that do not hold.
type Defaults struct{}

func (Defaults) Flush() error   { return nil }
func (Defaults) Settle() error  { return nil }
func (Defaults) Compact() error { return Unsupported("does not compact on request") }

// Scans is in which order an engine visits its keys.
type Scans int

// BothWays is the order of the keys, or its reverse; an engine that is ForwardOnly is
// never asked for the latter, and one that is Unordered only for all of its entries.
const (
	BothWays Scans = iota
	ForwardOnly
	Unordered
)

// Driver describes an engine.
type Driver struct {
	Name          string // as in configs
	Licence       string // an SPDX expression
	Codec         string // enabled by Options.Compression; "": none
	Module        string // of the engine, as in go.mod; "": it is in this one
	Scans         Scans
	StoresNothing bool // a null engine, which shows what crossing costs
	Flags         []Flag
	Guarantees    [3]Guarantee // by Durability
	NotFound      error        // of Get, if the key is absent; nil: there is none
	Open          func(Options) (Database, error)
}

// Unsupported is the error of Open or Compact that says what the engine cannot
// do.  Any other error means that the engine failed.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

var registered Driver

// Register says which engine this plug-in has.  It is called once, by init.
func Register(driver Driver) {
	registered = driver
	registered.Flags = append(registered.Flags, runtimeFlags...)
}
