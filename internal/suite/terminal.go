package suite

import (
	"flag"
	"os"
	"strconv"

	"assay/internal/workflow"
)

// screenOf has COLUMNS win over the terminal's own width, and none be wider than the summary's.
func screenOf(f *os.File) view {
	v := view{width: screenWidth, lines: screenLines}
	if n := columnsOf(f); n > 0 {
		v.width = min(v.width, n)
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		v.width = min(screenWidth, n)
	}
	return v
}

// openTerminal is nil under -json, in CI, with ASSAY_PROGRESS=0 and where there is none.
func openTerminal(flags *flag.FlagSet) *os.File {
	if underJSON(flags) || os.Getenv("CI") != "" || os.Getenv("ASSAY_PROGRESS") == "0" {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return tty
}

// swallowed reports whether go test hides what a passing package prints. It does if packages
// are named; then our output is a pipe, unless -v is set.
func (s *Suite) swallowed() bool {
	info, err := os.Stdout.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 || s.verbose() || !byGoTest(os.Args[0]) {
		return false
	}
	parent, err := os.Stat("/proc/" + strconv.Itoa(os.Getppid()) + "/fd/1")
	return err != nil || !os.SameFile(info, parent)
}

// printSummary prints the summary, and on the terminal too where go test would keep it to
// itself.
func (s *Suite) printSummary(code int) {
	if underJSON(s.flags) {
		return
	}
	v := screenOf(os.Stdout)
	v.all = s.verbose()
	s.summary.print(&workflow.Writer{To: os.Stdout}, v)
	if code != 0 || !s.swallowed() {
		return
	}
	if tty := openTerminal(s.flags); tty != nil {
		done := make(chan struct{})
		go func() { // a terminal that was stopped (^S) must not stop the run
			defer close(done)
			s.summary.mu.Lock()
			defer s.summary.mu.Unlock()
			s.summary.show(tty, screenOf(tty))
			_ = tty.Close()
		}()
		within(done)
	}
}
