package kvmatrix

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"
)

// module returns the path and version of the engine's module.  It fails if the plug-in
// does not contain it.
func module() (path, version string, err error) {
	info, ok := debug.ReadBuildInfo()
	if !ok || registered.Module == "" {
		return "", "1", nil
	}
	for _, dependency := range info.Deps {
		if dependency.Path == registered.Module {
			return dependency.Path, strings.TrimPrefix(dependency.Version, "v"), nil
		}
	}
	err = fmt.Errorf("Driver.Module: %s is not in the plug-in; "+
		"expected a path that go.mod requires", registered.Module)
	return registered.Module, "unknown", err
}

func origin() string {
	path, version, _ := module()
	if path == "" {
		return "this repository"
	}
	return "Go module " + path + " v" + version
}

// buildFlags returns those of the Go compiler that the build records.
func buildFlags() string {
	flags := []string{runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if strings.HasPrefix(setting.Key, "-") || setting.Key == "GOAMD64" {
				flags = append(flags, setting.Key+"="+setting.Value)
			}
		}
	}
	return strings.Join(flags, " ")
}

//export KvmGoVersion
func KvmGoVersion() *C.char {
	_, version, _ := module()
	return C.CString(version)
}

//export KvmGoGuarantees
func KvmGoGuarantees(result *C.kvm_guarantee) {
	for i, guarantee := range registered.Guarantees {
		unsafe.Slice(result, len(registered.Guarantees))[i] = C.kvm_guarantee{
			promise: C.kvm_promise(guarantee.Promise),
			source:  C.CString(guarantee.Source),
		}
	}
}

// KvmGoDescribe sets the fields that are not functions.  What they refer to lives
// as long as the process.
//
//export KvmGoDescribe
func KvmGoDescribe(driver *C.kvm_driver) {
	driver.name = C.CString(registered.Name)
	driver.licence = C.CString(registered.Licence)
	driver.codec = C.CString(registered.Codec)
	driver.origin = C.CString(origin())
	driver.engine_flags = C.CString(buildFlags())
	driver.scans = C.uint32_t(map[Scans]C.kvm_scans{
		BothWays: C.KVM_BOTH_WAYS, ForwardOnly: C.KVM_FORWARD, Unordered: C.KVM_UNORDERED,
	}[registered.Scans])
	driver.properties = C.KVM_KEEPS_THREADS | C.KVM_OWN_SYSTEM_CALLS
	if registered.StoresNothing {
		driver.properties |= C.KVM_STORES_NOTHING
	}
	driver.flag_count = C.size_t(len(registered.Flags))
	flags := (*C.kvm_flag)(C.calloc(driver.flag_count+1, C.sizeof_kvm_flag))
	for i, flag := range registered.Flags {
		unsafe.Slice(flags, len(registered.Flags))[i] = C.kvm_flag{
			name:          C.CString(flag.Name),
			_type:         C.CString(fmt.Sprintf("%T", flag.Default)),
			default_value: C.CString(fmt.Sprint(flag.Default)),
			help:          C.CString(flag.Help),
		}
	}
	driver.flags = flags
}
