package static

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// memoryOf is how much memory an analysis of so many bytes of code may take before
// the garbage collector works harder: 400 MB for 12 MB.
func memoryOf(code int64) int64 { return 96<<20 + 25*code }

var held struct {
	sync.Mutex
	runs int
	old  int64
}

// holdMemory bounds the memory of one run, whose parsers leave much garbage, and
// gives the end of it. A lower limit that somebody has set stands.
func holdMemory(code int64) func() {
	held.Lock()
	defer held.Unlock()
	if held.runs++; held.runs == 1 {
		held.old = debug.SetMemoryLimit(-1)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		debug.SetMemoryLimit(min(held.old, int64(m.Sys-m.HeapReleased)+memoryOf(code)))
	}
	return func() {
		held.Lock()
		defer held.Unlock()
		if held.runs--; held.runs == 0 {
			debug.SetMemoryLimit(held.old)
		}
	}
}
