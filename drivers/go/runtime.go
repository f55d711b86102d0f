package kvmatrix

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// What Go reads from the environment can be a flag of a row as well.
var runtimeFlags = []Flag{
	{Name: "gogc", Default: uint64(0), Help: "GOGC: percentage by which the heap grows between garbage collections; 0: that of the environment, or 100"},
	{Name: "gomaxprocs", Default: uint64(0), Help: "GOMAXPROCS: threads that execute Go code at once; 0: that of the environment, or the number of processors"},
	{Name: "gomemlimit", Default: uint64(0), Help: "GOMEMLIMIT: bytes that the Go runtime tries not to exceed; 0: that of the environment, or none"},
}

func setRuntime(options Options) {
	if percent := options.Int("gogc"); percent > 0 {
		debug.SetGCPercent(percent)
	}
	if threads := options.Int("gomaxprocs"); threads > 0 {
		runtime.GOMAXPROCS(threads)
	}
	if bytes := options.Int("gomemlimit"); bytes > 0 {
		debug.SetMemoryLimit(int64(bytes))
	}
}

// runtimeSettings returns what is in force, be it from a flag or the environment.
func runtimeSettings() map[string]any {
	samples := []metrics.Sample{
		{Name: "/gc/gogc:percent"},
		{Name: "/gc/gomemlimit:bytes"},
		{Name: "/sched/gomaxprocs:threads"},
	}
	metrics.Read(samples)
	settings := map[string]any{
		"go":         runtime.Version(),
		"gogc":       samples[0].Value.Uint64(),
		"gomemlimit": samples[1].Value.Uint64(),
		"gomaxprocs": samples[2].Value.Uint64(),
	}
	for _, name := range []string{"gogc", "gomemlimit"} {
		if settings[name].(uint64) >= math.MaxInt64 {
			settings[name] = "off"
		}
	}
	return settings
}
