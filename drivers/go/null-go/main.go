// null-go: stores nothing.  Its results are what the bridge to Go costs.
package main

import "kvmatrix"

type null struct {
	entries    uint64
	key, value []byte
}

func init() {
	kvmatrix.Register(kvmatrix.Driver{
		Name:          "null-go",
		Licence:       "Apache-2.0",
		StoresNothing: true,
		Open: func(options kvmatrix.Options) (kvmatrix.Database, error) {
			return null{
				options.ExpectedEntries,
				make([]byte, options.KeySize),
				make([]byte, options.ValueSize),
			}, nil
		},
	})
}

func (n null) Flush() error   { return nil }
func (n null) Compact() error { return nil }
func (n null) Settings() map[string]any {
	return map[string]any{"stores": "nothing"}
}
func (n null) Close() error { return nil }

func (n null) Write([]kvmatrix.Update) error { return nil }

func (n null) Get(_, to []byte) ([]byte, bool, error) {
	return append(to, n.value...), true, nil
}

// Scan visits the same entry as often as a filled database has entries.
func (n null) Scan(_ []byte, _ bool, visit func(key, value []byte) bool) error {
	for i := uint64(0); i < n.entries && visit(n.key, n.value); i++ {
	}
	return nil
}

func main() {}
