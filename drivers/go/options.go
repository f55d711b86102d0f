package kvmatrix

// #include "shim.h"
import "C"

import (
	"fmt"
	"maps"
	"os"
	"sort"
	"strconv"
	"strings"
	"unsafe"
)

// parse returns a flag's value, which has the type of `example`.
func parse(text string, example any) (value any, err error) {
	switch example.(type) {
	case bool:
		return strconv.ParseBool(text)
	case uint64:
		return strconv.ParseUint(text, 10, 64)
	}
	return text, nil
}

// Int returns the value of a flag whose default is a uint64.
func (o Options) Int(flag string) int { return int(valueOf[uint64](o, flag)) }

// Bool returns the value of a flag whose default is a bool.
func (o Options) Bool(flag string) bool { return valueOf[bool](o, flag) }

// Text returns the value of a flag whose default is a string.
func (o Options) Text(flag string) string { return valueOf[string](o, flag) }

func valueOf[T any](options Options, flag string) T {
	value, ok := options.flags[flag].(T)
	if !ok {
		panic(fmt.Sprintf("Driver.Flags has no flag %q of the type %T", flag, value))
	}
	return value
}

func toOptions(options *C.kvm_options) (Options, error) {
	flags := map[string]any{}
	values := unsafe.Slice((**C.char)(unsafe.Pointer(options.flags)), len(registered.Flags))
	for i, flag := range registered.Flags {
		value, err := parse(C.GoString(values[i]), flag.Default)
		if err != nil {
			return Options{}, fmt.Errorf("--%s: %w", flag.Name, err)
		}
		flags[flag.Name] = value
	}
	path := C.GoString(options.path)
	if _, err := os.Stat(path); err != nil {
		return Options{}, err // many packages would create it
	}
	return Options{
		Path:            path,
		CacheSize:       uint64(options.cache_size),
		Compression:     options.compression != 0,
		Durability:      Durability(options.durability),
		Threads:         uint64(options.threads),
		ExpectedEntries: uint64(options.expected_entries),
		KeySize:         uint64(options.key_size),
		ValueSize:       uint64(options.value_size),
		flags:           flags,
		failure:         &firstError{},
	}, nil
}

// inForce adds the settings of the runtime to those of an engine, and its flags.
func inForce(engine map[string]any, options Options) map[string]any {
	settings := runtimeSettings()
	maps.Copy(settings, engine)
	for name, value := range options.flags {
		if _, reported := settings[name]; !reported {
			settings[name] = Requested(value)
		}
	}
	return settings
}

// lines returns "name=value" lines, sorted by name.
func lines(settings map[string]any) string {
	var all []string
	for name, value := range settings {
		if value == "" {
			value = `""`
		}
		all = append(all, fmt.Sprintf("%s=%v\n", name, value))
	}
	sort.Strings(all)
	return strings.Join(all, "")
}

//export KvmGoSettings
func KvmGoSettings(handle unsafe.Pointer, text *C.char, room C.size_t) C.size_t {
	all := (*openDatabase)(handle).settings
	copy(unsafe.Slice((*byte)(unsafe.Pointer(text)), room), all)
	return C.size_t(len(all))
}
