// goleveldb: LevelDB, written in Go.  https://github.com/syndtr/goleveldb
package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"kvmatrix"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
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
		Flags: []kvmatrix.Flag{
			{Name: "write_buffer_size", Default: uint64(opt.DefaultWriteBuffer), Help: "bytes of a memtable"},
			{Name: "block_size", Default: uint64(opt.DefaultBlockSize), Help: "bytes of a table block"},
			{Name: "bloom_bits", Default: uint64(0), Help: "Bloom filter bits per key; 0: no filter"},
			{Name: "open_files", Default: uint64(500), Help: "table files kept open"},
		},
		Guarantees: [3]kvmatrix.Guarantee{
			{Promise: kvmatrix.LosesNewest, Source: source},
			{Promise: kvmatrix.LosesNewest, Source: source},
			{Promise: kvmatrix.LosesNothing, Source: source},
		},
		Open: open,
	})
}

type database struct {
	*leveldb.DB
	path  string
	tuned *opt.Options
	write *opt.WriteOptions
	left  *string // the log of a full memtable that Settle has found left
}

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	number := func(name string) int { return int(options.Flags[name].(uint64)) }
	tuned := &opt.Options{
		BlockCacheCapacity:     int(options.CacheSize),
		BlockSize:              number("block_size"),
		OpenFilesCacheCapacity: number("open_files"),
		WriteBuffer:            number("write_buffer_size"),
	}
	if options.CacheSize == 0 {
		tuned.BlockCacheCapacity = -1 // 0 would mean 8 MiB
	}
	if !options.Compression {
		tuned.Compression = opt.NoCompression
	}
	if bits := number("bloom_bits"); bits > 0 {
		tuned.Filter = filter.NewBloomFilter(bits)
	}
	db, err := leveldb.OpenFile(options.Path, tuned)
	if err != nil {
		return nil, err
	}
	write := &opt.WriteOptions{Sync: options.Durability == kvmatrix.Durable}
	return database{db, options.Path, tuned, write, new(string)}, nil
}

func (d database) NewSession() (kvmatrix.Session, error) { return &session{database: d}, nil }
func (d database) Flush() error                          { return nil } // a write has handed everything over

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
		logs, err := filepath.Glob(filepath.Join(d.path, "*.log"))
		if err != nil {
			return false, false, err
		}
		if len(logs) > 1 && logs[0] != *d.left {
			if polls++; polls < lostPolls {
				return true, false, nil
			}
			*d.left = logs[0]
		}
		var stats leveldb.DBStats
		if err := d.Stats(&stats); err != nil {
			return false, false, err
		}
		for level, size := range stats.LevelSizes {
			due = due || level > 0 && size >= d.tuned.GetCompactionTotalSize(level)
		}
		tables := stats.LevelTablesCounts
		due = due || len(tables) > 0 && tables[0] >= d.tuned.GetCompactionL0Trigger()
		return false, due, nil
	})
}

func (d database) Compact() error {
	if err := d.CompactRange(util.Range{}); err != nil {
		return err
	}
	return d.Settle()
}

func (d database) Settings() map[string]any {
	asRequested := func(value any) string { return fmt.Sprint(value, " (as requested)") }
	return map[string]any{
		"block_cache":       asRequested(d.tuned.GetBlockCacheCapacity()),
		"block_size":        asRequested(d.tuned.GetBlockSize()),
		"compression":       asRequested(d.tuned.GetCompression()),
		"filter":            asRequested(d.tuned.GetFilter() != nil),
		"open_files":        asRequested(d.tuned.GetOpenFilesCacheCapacity()),
		"sync":              asRequested(d.write.GetSync()),
		"write_buffer_size": asRequested(d.tuned.GetWriteBuffer()),
	}
}

type session struct {
	database
	batch leveldb.Batch // here to reuse its memory
}

func (s *session) Write(updates []kvmatrix.Update) error {
	s.batch.Reset()
	for _, update := range updates {
		if update.Delete {
			s.batch.Delete(update.Key)
		} else {
			s.batch.Put(update.Key, update.Value)
		}
	}
	return s.DB.Write(&s.batch, s.write)
}

func (s *session) Get(key, to []byte) (value []byte, found bool, err error) {
	stored, err := s.DB.Get(key, nil)
	if err == leveldb.ErrNotFound {
		return nil, false, nil
	}
	return append(to, stored...), true, err
}

func (s *session) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	it := s.NewIterator(nil, nil)
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
