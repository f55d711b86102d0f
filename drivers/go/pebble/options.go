package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"kvmatrix"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// Names are those of RocksDB's db_bench, defaults those of Pebble.
var flags = []kvmatrix.Flag{
	{Name: "write_buffer_size", Default: uint64(4 << 20), Help: "bytes of a memtable"},
	{Name: "max_write_buffer_number", Default: uint64(2), Help: "memtables, including the active one"},
	{Name: "max_bytes_for_level_base", Default: uint64(64 << 20), Help: "bytes of the first level below level 0"},
	{Name: "target_file_size_base", Default: uint64(2 << 20), Help: "bytes of a file of level 0; twice as many in each further level"},
	{Name: "level0_file_num_compaction_trigger", Default: uint64(4), Help: "sublevels of level 0 that start a compaction"},
	{Name: "level0_stop_writes_trigger", Default: uint64(12), Help: "sublevels of level 0 that stop writes"},
	{Name: "max_background_jobs", Default: uint64(1), Help: "compactions at once"},
	{Name: "open_files", Default: uint64(1000), Help: "files kept open"},
	{Name: "block_size", Default: uint64(4096), Help: "bytes of a table block"},
	{Name: "index_block_size", Default: uint64(4096), Help: "bytes of an index block"},
	{Name: "bloom_bits", Default: uint64(0), Help: "Bloom filter bits per key; 0: no filter"},
	{Name: "newest_format", Default: false, Help: "FormatNewest instead of the oldest that this release supports"},
}

func tune(options kvmatrix.Options) *pebble.Options {
	tuned := &pebble.Options{
		Cache:                       pebble.NewCache(int64(options.CacheSize)),
		MemTableSize:                uint64(options.Int("write_buffer_size")),
		MemTableStopWritesThreshold: options.Int("max_write_buffer_number"),
		LBaseMaxBytes:               int64(options.Int("max_bytes_for_level_base")),
		L0CompactionThreshold:       options.Int("level0_file_num_compaction_trigger"),
		L0StopWritesThreshold:       options.Int("level0_stop_writes_trigger"),
		CompactionConcurrencyRange: func() (lower, upper int) {
			return 1, options.Int("max_background_jobs")
		},
		MaxOpenFiles:  options.Int("open_files"),
		Logger:        quiet{pebble.DefaultLogger},
		EventListener: &pebble.EventListener{BackgroundError: options.ReportFailure},
	}
	if options.Bool("newest_format") {
		tuned.FormatMajorVersion = pebble.FormatNewest
	}
	tuned.TargetFileSizes[0] = int64(options.Int("target_file_size_base"))
	level := &tuned.Levels[0] // the others inherit from it
	level.BlockSize = options.Int("block_size")
	level.IndexBlockSize = options.Int("index_block_size")
	if bits := options.Int("bloom_bits"); bits > 0 {
		level.FilterPolicy = bloom.FilterPolicy(bits)
	}
	if !options.Compression {
		level.Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	}
	return tuned
}

// quiet writes errors only.
type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}

// Settings returns what Pebble has written to its file OPTIONS, for the database
// and for level 0.
func (d database) Settings() map[string]any {
	settings := map[string]any{"sync": kvmatrix.Requested(d.write.Sync)}
	names, _ := filepath.Glob(filepath.Join(d.path, "OPTIONS-*"))
	if len(names) == 0 {
		return settings
	}
	file, err := os.Open(names[len(names)-1])
	if err != nil {
		return settings
	}
	defer file.Close()
	wanted := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			wanted = line == "[Options]" || line == `[Level "0"]`
		} else if name, value, found := strings.Cut(line, "="); found && wanted {
			settings[name] = value
		}
	}
	return settings
}
