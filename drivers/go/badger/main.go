// Badger: a log-structured merge tree that keeps large values in a log of their
// own.  https://github.com/dgraph-io/badger
package main

import (
	"kvmatrix"

	"github.com/dgraph-io/badger/v4"
)

func init() {
	kvmatrix.Register(kvmatrix.Driver{
		Name:    "badger",
		Licence: "Apache-2.0",
		Codec:   "snappy",
		Module:  "github.com/dgraph-io/badger/v4",
		Flags:   flags,
		// Options.WithSyncWrites: true is needed "to survive hard reboots".
		Guarantees: kvmatrix.Documented(
			"https://github.com/dgraph-io/badger/blob/v4.9.6/options.go",
			kvmatrix.MayBeCorrupt, kvmatrix.LosesNothing, kvmatrix.LosesNothing),
		NotFound: badger.ErrKeyNotFound,
		Open:     open,
	})
}

type database struct {
	*badger.DB
	kvmatrix.Options
}

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	db, err := badger.Open(tune(options))
	return database{db, options}, err
}

func (d database) Flush() error   { return nil } // writes go to mapped files
func (d database) Compact() error { return d.Flatten(1) }

func (d database) Working() (running, due bool, err error) {
	tables := 0
	for _, level := range d.Levels() {
		tables += level.NumTables
		due = due || level.Score >= 1 && (level.Level == 0 || level.Adjusted >= 1)
	}
	// Files of memtables and tables remain until they have been written out or merged.
	running = d.files(".mem") > 1 || d.files(".sst") > tables || tablesInCompaction() > 0
	return running, due, nil
}

func (d database) Write(batch []kvmatrix.Update) error {
	return d.Update(func(txn *badger.Txn) error {
		return kvmatrix.Apply(batch, txn.Set, txn.Delete)
	})
}

func (d database) Get(key, to []byte) (value []byte, found bool, err error) {
	txn := d.NewTransaction(false)
	defer txn.Discard()
	item, err := txn.Get(key)
	if err != nil {
		return nil, false, err
	}
	err = item.Value(func(stored []byte) error {
		value = append(to, stored...)
		return nil
	})
	return value, true, err
}

func (d database) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	txn := d.NewTransaction(false)
	defer txn.Discard()
	options := badger.DefaultIteratorOptions
	options.Reverse = backward
	options.PrefetchSize = d.Int("prefetch_size")
	options.PrefetchValues = options.PrefetchSize > 0
	it := txn.NewIterator(options)
	defer it.Close()
	more := true
	for it.Seek(start); more && it.Valid(); it.Next() {
		err := it.Item().Value(func(value []byte) error {
			more = visit(it.Item().Key(), value)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func main() {}
