package main

import (
	"kvmatrix"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// Names are those of LevelDB's db_bench, defaults those of goleveldb.
var flags = []kvmatrix.Flag{
	{Name: "write_buffer_size", Default: uint64(opt.DefaultWriteBuffer), Help: "bytes of a memtable"},
	{Name: "block_size", Default: uint64(opt.DefaultBlockSize), Help: "bytes of a table block"},
	{Name: "bloom_bits", Default: uint64(0), Help: "Bloom filter bits per key; 0: no filter"},
	{Name: "open_files", Default: uint64(500), Help: "table files kept open"},
}

func tune(options kvmatrix.Options) *opt.Options {
	tuned := &opt.Options{
		BlockCacheCapacity:     int(options.CacheSize),
		BlockSize:              options.Int("block_size"),
		OpenFilesCacheCapacity: options.Int("open_files"),
		WriteBuffer:            options.Int("write_buffer_size"),
	}
	if options.CacheSize == 0 {
		tuned.BlockCacheCapacity = -1 // 0 would mean 8 MiB
	}
	if !options.Compression {
		tuned.Compression = opt.NoCompression
	}
	if bits := options.Int("bloom_bits"); bits > 0 {
		tuned.Filter = filter.NewBloomFilter(bits)
	}
	return tuned
}

func (d *database) Settings() map[string]any {
	return map[string]any{
		"block_cache": kvmatrix.Requested(d.tuned.GetBlockCacheCapacity()),
		"compression": kvmatrix.Requested(d.tuned.GetCompression()),
		"sync":        kvmatrix.Requested(d.write.GetSync()),
	}
}
