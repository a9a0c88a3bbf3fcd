package planted_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// How long a test polls for what another process does.
const (
	waitLimit = 2 * time.Minute
	waitStep  = 5 * time.Millisecond
)

// gone reports whether a process has ended; one that nobody has waited for yet
// has.
func gone(pid string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err != nil || strings.Contains(string(b), ") Z ")
}
