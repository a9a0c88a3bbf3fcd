//go:build !linux

package box

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"assay/audit"
)

type launched struct {
	cmd     *exec.Cmd
	home    *Home
	limits  audit.Limits
	volumes []*os.File // none here
	writes  []writable // none here, as nothing is confined
}

func (p Process) launch(stdout, stderr io.Writer) (*launched, error) {
	l := &launched{cmd: exec.Command(p.Command[0], p.Command[1:]...), home: p.Home,
		limits: p.Limits}
	if p.Home != nil {
		if err := p.Home.open(p.Home.Dir, -1); err != nil {
			return nil, err
		}
	}
	l.cmd.Dir, l.cmd.Env, l.cmd.SysProcAttr = p.Dir, p.Env, attributes()
	if p.Stdin != "" {
		l.cmd.Stdin = strings.NewReader(p.Stdin)
	}
	// A child that was left behind may hold input or output open: Wait ends all the same.
	l.cmd.WaitDelay = time.Second
	l.cmd.Stdout, l.cmd.Stderr = stdout, stderr
	return l, l.cmd.Start()
}

func (l *launched) begin(context.Context) error { return nil }

func (l *launched) close() {}

func (l *launched) sweep() { l.kill() }

func (l *launched) limitedBy() string { return "watching its home" }

func (l *launched) crossed(audit.Limits) string { return "" }

func landlockABI() int { return 0 }

const filtered = false

func (b *Box) owner() int { return -1 }

// watch returns nothing: only the leader is known here, and not what it uses.
func watch(int) usage { return usage{} }

func withoutShared(int) int64 { return 0 }

func removed(int, *os.Root) int64 { return 0 }

func full(*os.File, int64) bool { return false }

func ownPeak(*os.ProcessState) int64 { return 0 }
