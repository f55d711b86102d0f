// goleveldb: LevelDB, written in Go.  https://github.com/syndtr/goleveldb
package main

import (
	"bytes"
	"path/filepath"
	"sync"

	"kvmatrix"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// WriteOptions.Sync: if false, "some recent writes may be lost".
const source = "https://github.com/syndtr/goleveldb/blob/v1.0.0/leveldb/opt/options.go"

func init() {
	kvmatrix.Register(kvmatrix.Driver{
		Name:    "goleveldb",
		Licence: "BSD-2-Clause",
		Codec:   "snappy",
		Module:  "github.com/syndtr/goleveldb",
		Flags:   flags,
		Guarantees: kvmatrix.Documented(source,
			kvmatrix.LosesNewest, kvmatrix.LosesNewest, kvmatrix.LosesNothing),
		NotFound: leveldb.ErrNotFound,
		Open:     open,
	})
}

type database struct {
	*leveldb.DB
	kvmatrix.Defaults // a write has handed everything over
	path              string
	tuned             *opt.Options
	write             *opt.WriteOptions
	left              *string // the log of a full memtable that Settle has found left
}

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	tuned := tune(options)
	db, err := leveldb.OpenFile(options.Path, tuned)
	if err != nil {
		return nil, err
	}
	write := &opt.WriteOptions{Sync: options.Durability == kvmatrix.Durable}
	return database{DB: db, path: options.Path, tuned: tuned, write: write, left: new(string)}, nil
}

// lostPolls is after how many polls a full memtable counts as left: goleveldb loses
// the request to write it if the goroutine is busy, and repeats it in a later write.
const lostPolls = 100

func (d database) Settle() error {
	polls := 0
	return kvmatrix.WaitUntilIdle(func() (running, due bool, err error) {
		// A range that has no entry: waits for the compaction that is running.
		after := bytes.Repeat([]byte{0xff}, 16)
		if err := d.CompactRange(util.Range{Start: after}); err != nil {
			return false, false, err
		}
		logs, _ := filepath.Glob(filepath.Join(d.path, "*.log"))
		if len(logs) > 1 && logs[0] != *d.left {
			if polls++; polls < lostPolls {
				return true, false, nil
			}
			*d.left = logs[0]
		}
		var stats leveldb.DBStats
		err = d.Stats(&stats)
		for level, size := range stats.LevelSizes {
			due = due || level > 0 && size >= d.tuned.GetCompactionTotalSize(level)
		}
		tables := stats.LevelTablesCounts
		due = due || len(tables) > 0 && tables[0] >= d.tuned.GetCompactionL0Trigger()
		return false, due, err
	})
}

func (d database) Compact() error {
	return d.CompactRange(util.Range{})
}

var batches = sync.Pool{New: func() any { return &leveldb.Batch{} }} // to reuse their memory

func (d database) Write(updates []kvmatrix.Update) error {
	batch := batches.Get().(*leveldb.Batch)
	defer batches.Put(batch)
	batch.Reset()
	for _, update := range updates {
		if update.Delete {
			batch.Delete(update.Key)
		} else {
			batch.Put(update.Key, update.Value)
		}
	}
	return d.DB.Write(batch, d.write)
}

func (d database) Get(key, to []byte) (value []byte, found bool, err error) {
	stored, err := d.DB.Get(key, nil)
	return append(to, stored...), true, err
}

func (d database) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	it := d.NewIterator(nil, nil)
	defer it.Release()
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
	return it.Error()
}

func main() {}
