// bbolt: a memory-mapped B+ tree, copied on write.  https://go.etcd.io/bbolt
package main

import (
	"path/filepath"

	"kvmatrix"

	"go.etcd.io/bbolt"
)

const source = "https://github.com/etcd-io/bbolt/blob/v1.5.0/db.go"

var bucket = []byte("b")

func init() {
	kvmatrix.Register(kvmatrix.Driver{
		Name:    "bbolt",
		Licence: "MIT",
		Module:  "go.etcd.io/bbolt",
		Flags: []kvmatrix.Flag{
			{Name: "page_size", Default: uint64(4096), Help: "bytes of a page"},
			{Name: "freelist_type", Default: "array", Help: "array or hashmap"},
			{Name: "freelist_sync", Default: true, Help: "write the list of free pages with each commit"},
			{Name: "statistics", Default: true, Help: "count operations"},
		},
		Guarantees: kvmatrix.Documented(source, // DB.NoSync
			kvmatrix.MayBeCorrupt, kvmatrix.LosesNothing, kvmatrix.LosesNothing),
		Open: open,
	})
}

// A commit has written its pages, and there is no background work.
type database struct {
	*bbolt.DB
	kvmatrix.Defaults
}

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	db, err := bbolt.Open(filepath.Join(options.Path, "bbolt.db"), 0o644, &bbolt.Options{
		PageSize:       options.Int("page_size"),
		FreelistType:   bbolt.FreelistType(options.Text("freelist_type")),
		NoFreelistSync: !options.Bool("freelist_sync"),
		NoStatistics:   !options.Bool("statistics"),
		NoSync:         options.Durability == kvmatrix.Buffered,
	})
	if err != nil {
		return nil, err
	}
	return database{DB: db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
}

func (d database) Limits() kvmatrix.Limits {
	return kvmatrix.Limits{KeySize: bbolt.MaxKeySize, ValueSize: bbolt.MaxValueSize}
}
func (d database) Settings() map[string]any {
	return map[string]any{
		"page_size":     d.Info().PageSize,
		"freelist_type": d.FreelistType,
		"freelist_sync": !d.NoFreelistSync,
		"statistics":    d.Stats().TxStats != bbolt.TxStats{},
		"sync":          !d.NoSync,
	}
}

func (d database) Write(batch []kvmatrix.Update) error {
	return d.Update(func(tx *bbolt.Tx) error {
		entries := tx.Bucket(bucket)
		return kvmatrix.Apply(batch, entries.Put, entries.Delete)
	})
}

func (d database) Get(key, to []byte) (value []byte, found bool, err error) {
	err = d.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(bucket).Get(key)
		value, found = append(to, stored...), stored != nil
		return nil
	})
	return value, found, err
}

func (d database) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	return d.View(func(tx *bbolt.Tx) error {
		kvmatrix.Walk(tx.Bucket(bucket).Cursor(), start, backward, visit)
		return nil
	})
}

func main() {}
