package main

import (
	"expvar"
	"fmt"
	"path/filepath"

	"kvmatrix"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Names are those of RocksDB's db_bench if it has them, defaults those of Badger.
var flags = []kvmatrix.Flag{
	{Name: "write_buffer_size", Default: uint64(64 << 20), Help: "bytes of a memtable"},
	{Name: "max_write_buffer_number", Default: uint64(5), Help: "memtables, including the active one"},
	{Name: "block_size", Default: uint64(4096), Help: "bytes of a table block"},
	{Name: "index_cache_size", Default: uint64(0), Help: "bytes for indexes and filters; 0: all are kept"},
	{Name: "max_background_jobs", Default: uint64(4), Help: "compactions at once, at least 2"},
	{Name: "value_threshold", Default: uint64(0), Help: "smallest value that is kept in the value log; 0: 1 MiB, or what a transaction may have if that is less"},
	{Name: "prefetch_size", Default: uint64(100), Help: "values that a scan reads ahead; 0: none"},
}

func tune(wanted kvmatrix.Options) badger.Options {
	number := func(flag string) int64 { return int64(wanted.Int(flag)) }
	tuned := badger.DefaultOptions(wanted.Path).WithLogger(logger{wanted})
	tuned.SyncWrites = wanted.Durability != kvmatrix.Buffered
	tuned.BlockCacheSize = max(int64(wanted.CacheSize), 1) // 0 is refused
	tuned.IndexCacheSize = number("index_cache_size")
	tuned.MemTableSize = number("write_buffer_size")
	tuned.NumMemtables = wanted.Int("max_write_buffer_number")
	tuned.BlockSize = wanted.Int("block_size")
	tuned.NumCompactors = wanted.Int("max_background_jobs")
	tuned.ValueThreshold = number("value_threshold")
	if tuned.ValueThreshold == 0 {
		// Badger refuses more than a transaction may have.
		tuned.ValueThreshold = min(1<<20, 15*tuned.MemTableSize/100)
	}
	if !wanted.Compression {
		tuned.Compression = options.None
	}
	return tuned
}

// Limits depend on the memtable: a transaction must fit in 15 % of it.
func (d database) Limits() kvmatrix.Limits {
	inTree := d.ValueSize
	if inTree >= uint64(d.Opts().ValueThreshold) {
		inTree = 12 // only where it is in the value log
	}
	each := d.KeySize + inTree + 2 + 10 // its estimate, and a version
	return kvmatrix.Limits{
		KeySize:   65_000,
		ValueSize: uint64(d.Opts().ValueLogFileSize),
		BatchSize: max(1, min(uint64(d.MaxBatchCount())-2, uint64(d.MaxBatchSize())/each-1)),
	}
}

func (d database) Settings() map[string]any {
	all := d.Opts()
	return map[string]any{
		"block_cache_size":        all.BlockCacheSize,
		"block_size":              all.BlockSize,
		"compression":             all.Compression,
		"index_cache_size":        all.IndexCacheSize,
		"write_buffer_size":       all.MemTableSize,
		"max_background_jobs":     all.NumCompactors,
		"max_write_buffer_number": all.NumMemtables,
		"sync_writes":             all.SyncWrites,
		"value_threshold":         all.ValueThreshold,
	}
}

// files returns how many files have a name that ends in `suffix`.
func (d database) files(suffix string) int {
	names, _ := filepath.Glob(filepath.Join(d.Path, "*"+suffix))
	return len(names)
}

func tablesInCompaction() int64 {
	return expvar.Get("badger_compaction_current_num_lsm").(*expvar.Int).Value()
}

// logger reports errors, after which Badger tries again without end, and prints nothing.
type logger struct{ kvmatrix.Options }

func (l logger) Errorf(format string, values ...any) {
	l.ReportFailure(fmt.Errorf(format, values...))
}
func (logger) Warningf(string, ...any) {}
func (logger) Infof(string, ...any)    {}
func (logger) Debugf(string, ...any)   {}
