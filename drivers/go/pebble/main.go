// Pebble: a log-structured merge tree.  https://github.com/cockroachdb/pebble
package main

import (
	"bytes"
	"context"

	"kvmatrix"

	"github.com/cockroachdb/pebble/v2"
)

func init() {
	kvmatrix.Register(kvmatrix.Driver{
		Name:    "pebble",
		Licence: "BSD-3-Clause",
		Codec:   "snappy",
		Module:  "github.com/cockroachdb/pebble/v2",
		Flags:   flags,
		// WriteOptions.Sync: if false, "a recent write may be lost".
		Guarantees: kvmatrix.Documented(
			"https://github.com/cockroachdb/pebble/blob/v2.1.7/options.go",
			kvmatrix.LosesNewest, kvmatrix.LosesNewest, kvmatrix.LosesNothing),
		NotFound: pebble.ErrNotFound,
		Open:     open,
	})
}

type database struct {
	*pebble.DB
	path  string
	write *pebble.WriteOptions
}

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	tuned := tune(options)
	defer tuned.Cache.Unref()
	db, err := pebble.Open(options.Path, tuned)
	write := &pebble.WriteOptions{Sync: options.Durability == kvmatrix.Durable}
	return database{db, options.Path, write}, err
}

// Flush synchronises the log: Pebble buffers it, and cannot hand it over otherwise.
func (d database) Flush() error { return d.LogData(nil, pebble.Sync) }

func (d database) Working() (running, due bool, err error) {
	metrics := d.Metrics()
	for _, level := range metrics.Levels {
		due = due || level.Score > 0
	}
	running = metrics.Compact.NumInProgress > 0 || metrics.Flush.NumInProgress > 0 ||
		metrics.Table.PendingStatsCollectionCount > 0 ||
		metrics.Table.ObsoleteCount > 0 // are being deleted
	return running, due, nil
}

func (d database) Compact() error {
	end := bytes.Repeat([]byte{0xff}, 2048) // after every key
	return d.DB.Compact(context.Background(), nil, end, false)
}

func (d database) Write(updates []kvmatrix.Update) error {
	batch := d.NewBatch()
	defer batch.Close()
	put := func(key, value []byte) error { return batch.Set(key, value, nil) }
	remove := func(key []byte) error { return batch.Delete(key, nil) }
	if err := kvmatrix.Apply(updates, put, remove); err != nil {
		return err
	}
	return batch.Commit(d.write)
}

func (d database) Get(key, to []byte) (value []byte, found bool, err error) {
	stored, closer, err := d.DB.Get(key)
	if err != nil {
		return nil, false, err
	}
	return append(to, stored...), true, closer.Close()
}

type iterator struct{ *pebble.Iterator }

func (it iterator) Seek(key []byte) bool { return it.SeekGE(key) }

func (d database) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	it, err := d.NewIter(nil)
	if err != nil {
		return err
	}
	defer it.Close()
	kvmatrix.Iterate(iterator{it}, start, backward, visit)
	return it.Error()
}

func main() {}
