// goleveldb: LevelDB, written in Go.  https://github.com/syndtr/goleveldb
package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"sync"

	"kvmatrix"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func init() {
	kvmatrix.Register(kvmatrix.Driver{
		Name:    "goleveldb",
		Licence: "BSD-2-Clause",
		Codec:   "snappy",
		Module:  "github.com/syndtr/goleveldb",
		Flags:   flags,
		// WriteOptions.Sync: if false, "some recent writes may be lost".
		Guarantees: kvmatrix.Documented(
			"https://github.com/syndtr/goleveldb/blob/v1.0.0/leveldb/opt/options.go",
			kvmatrix.LosesNewest, kvmatrix.LosesNewest, kvmatrix.LosesNothing),
		NotFound: leveldb.ErrNotFound,
		Open:     open,
	})
}

type database struct {
	*leveldb.DB
	kvmatrix.Defaults // a write has handed everything over
	tuned             *opt.Options
	write             *opt.WriteOptions
	path, fullLog     string // fullLog is that of a full memtable
	polls             int    // that have seen it
}

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	tuned := tune(options)
	db, err := leveldb.OpenFile(options.Path, tuned)
	write := &opt.WriteOptions{Sync: options.Durability == kvmatrix.Durable}
	return &database{DB: db, tuned: tuned, write: write, path: options.Path}, err
}

func (d *database) Working() (running, due bool, err error) {
	// A range that has no entry: waits for the compaction that is running.
	after := util.Range{Start: bytes.Repeat([]byte{0xff}, 16)}
	var stats leveldb.DBStats
	err = errors.Join(d.CompactRange(after), d.Stats(&stats))
	for level, size := range stats.LevelSizes {
		due = due || level > 0 && size >= d.tuned.GetCompactionTotalSize(level) ||
			level == 0 && stats.LevelTablesCounts[0] >= d.tuned.GetCompactionL0Trigger()
	}
	return d.hasFullMemtable(), due, err
}

// hasFullMemtable gives up after 100 polls: goleveldb loses the request to write a full
// memtable if the goroutine is busy, and repeats it in a later write.
func (d *database) hasFullMemtable() bool {
	logs, _ := filepath.Glob(filepath.Join(d.path, "*.log"))
	if len(logs) < 2 {
		return false
	}
	if logs[0] != d.fullLog {
		d.fullLog, d.polls = logs[0], 0
	}
	d.polls++
	return d.polls < 100
}

func (d *database) Compact() error { return d.CompactRange(util.Range{}) }

var batches = sync.Pool{New: func() any { return &leveldb.Batch{} }} // to reuse their memory

func (d *database) Write(updates []kvmatrix.Update) error {
	batch := batches.Get().(*leveldb.Batch)
	defer batches.Put(batch)
	batch.Reset()
	kvmatrix.Fill(batch, updates)
	return d.DB.Write(batch, d.write)
}

func (d *database) Get(key, to []byte) (value []byte, found bool, err error) {
	stored, err := d.DB.Get(key, nil)
	return append(to, stored...), true, err
}

func (d *database) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	it := d.NewIterator(nil, nil)
	defer it.Release()
	kvmatrix.Iterate(it, start, backward, visit)
	return it.Error()
}

func main() {}
