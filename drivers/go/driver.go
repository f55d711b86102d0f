// Package kvmatrix makes a plug-in of a storage engine that is written in Go.
//
// An engine is a package main of one file that calls Register in its init
// function and has an empty main function; README.md shows how it is built.  The
// contract of each call is that of the method of the same name in
// common/driver.h; what is said here is added to it.  A panic becomes an error.
package kvmatrix

import "fmt"

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
	failure            *firstError
}

// ReportFailure says that work in the background has failed.  Later calls of settle,
// compact and close return the first error reported, and close then leaves the engine
// open, which might wait for that work without end.
func (o Options) ReportFailure(err error) { o.failure.set(err) }

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

// Batch is a batch of writes in LevelDB's form.
type Batch interface {
	Put(key, value []byte)
	Delete(key []byte)
}

// Fill adds each update to the batch.
func Fill(batch Batch, updates []Update) {
	for _, update := range updates {
		if update.Delete {
			batch.Delete(update.Key)
		} else {
			batch.Put(update.Key, update.Value)
		}
	}
}

// Database is an open database.  Get, Write and Scan are called by many goroutines at
// once, every other method by one and not during those calls.  It may be Limited and a
// Worker as well.
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
	Compact() error // may return Unsupported
	// Settings are the settings in force, read back from the engine once, after
	// Open, or Requested if it cannot say.  Flags that are not among them are
	// added as requested, and the settings of the Go runtime as they are.
	Settings() map[string]any
	Close() error
}

// Limited is a Database whose Write has limits, which are read once, after Open.
type Limited interface{ Limits() Limits }

// Worker is a Database that works in the background.
type Worker interface {
	// Working returns whether a job is running or due, and may wait for jobs.
	// Settle and compact call it until none is, and fail if a job remains due for
	// about ten seconds and none runs.
	Working() (running, due bool, err error)
}

// Defaults has the methods of a Database that hands over all that is written at once
// and does not compact.  An engine embeds it and replaces those that do not hold.
type Defaults struct{}

func (Defaults) Flush() error   { return nil }
func (Defaults) Compact() error { return Unsupported("does not compact on request") }

// Requested marks the value of a setting that the engine cannot report.
func Requested(value any) string { return fmt.Sprint(value, " (as requested)") }

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
