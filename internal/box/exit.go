package box

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"assay/audit"
)

// Shell returns the command that runs a command line. On TERM the shell waits for the program
// that it runs, which got the signal too and may need time to end.
func Shell(line string) []string {
	return []string{"/bin/sh", "-c", "trap 'exit 143' TERM; " + line}
}

// Signal returns the signal that ended the program; 0 for none. A shell and bubblewrap report
// it as 128 plus its number. So seems a program that exits with an HTTP status, which the
// kernel cuts to a byte: 401 becomes 128 plus a signal by which no program ends.
func (e *Exit) Signal() syscall.Signal {
	switch {
	case e.Code < 0:
		return syscall.SIGKILL
	case e.Code > 128 && e.Code < 128+32 && !slices.Contains(harmless, syscall.Signal(e.Code-128)):
		return syscall.Signal(e.Code - 128)
	}
	return 0
}

// LastWords returns the last line of standard error or, if that is empty, of standard output.
func (e *Exit) LastWords() string {
	if len(bytes.TrimSpace(e.Stderr)) > 0 {
		return LastLine(e.Stderr)
	}
	return LastLine(e.Stdout)
}

// LastLine returns the last line of a text that has letters in it, cut for a message.
func LastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for n := len(lines) - 1; n > 0 && !strings.ContainsFunc(lines[n], unicode.IsLetter); n-- {
		lines = lines[:n]
	}
	return audit.OneLine(lines[len(lines)-1], lineLimit)
}

const lineLimit = 300 // bytes

// Size formats a limit in bytes.
func Size(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Fingerprint returns a text that identifies the state of a tree by names, sizes, times and
// modes; "" for a tree that cannot be read.
func Fingerprint(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(&b, "%s %d %d %o\n", name, info.Size(),
				info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
	return b.String()
}
