// bbolt: a memory-mapped B+ tree, copied on write.  https://go.etcd.io/bbolt
package main

import (
	"bytes"
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
		Guarantees: [3]kvmatrix.Guarantee{
			{Promise: kvmatrix.MayBeCorrupt, Source: source}, // DB.NoSync
			{Promise: kvmatrix.LosesNothing, Source: source},
			{Promise: kvmatrix.LosesNothing, Source: source},
		},
		Open: open,
	})
}

type database struct{ *bbolt.DB }

func open(options kvmatrix.Options) (kvmatrix.Database, error) {
	db, err := bbolt.Open(filepath.Join(options.Path, "bbolt.db"), 0o644, &bbolt.Options{
		PageSize:       int(options.Flags["page_size"].(uint64)),
		FreelistType:   bbolt.FreelistType(options.Flags["freelist_type"].(string)),
		NoFreelistSync: !options.Flags["freelist_sync"].(bool),
		NoStatistics:   !options.Flags["statistics"].(bool),
		NoSync:         options.Durability == kvmatrix.Buffered,
	})
	if err != nil {
		return nil, err
	}
	return database{db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
}

func (d database) NewSession() (kvmatrix.Session, error) { return session(d), nil }
func (d database) Limits() kvmatrix.Limits {
	return kvmatrix.Limits{KeySize: bbolt.MaxKeySize, ValueSize: bbolt.MaxValueSize}
}
func (d database) Flush() error  { return nil } // a commit has written its pages
func (d database) Settle() error { return nil } // there is no background work
func (d database) Compact() error {
	return kvmatrix.Unsupported("bbolt compacts only into another file")
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

type session struct{ *bbolt.DB }

func (s session) Write(batch []kvmatrix.Update) error {
	return s.Update(func(tx *bbolt.Tx) error {
		entries := tx.Bucket(bucket)
		return kvmatrix.Apply(batch, entries.Put, entries.Delete)
	})
}

func (s session) Get(key, to []byte) (value []byte, found bool, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(bucket).Get(key)
		value, found = append(to, stored...), stored != nil
		return nil
	})
	return value, found, err
}

func (s session) Scan(start []byte, backward bool, visit func(key, value []byte) bool) error {
	return s.View(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(bucket).Cursor()
		key, value := cursor.Seek(start)
		next := cursor.Next
		if backward {
			next = cursor.Prev
			if len(start) == 0 || key == nil {
				key, value = cursor.Last()
			} else if !bytes.Equal(key, start) {
				key, value = cursor.Prev()
			}
		}
		for key != nil && visit(key, value) {
			key, value = next()
		}
		return nil
	})
}

func main() {}
