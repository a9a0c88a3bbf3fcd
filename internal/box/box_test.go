//go:build linux

package box

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// This binary is the untrusted program too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if act := acts[os.Args[1]]; act != nil {
			act(os.Args[2:])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// acts are what the program does as its first argument says.
var acts = map[string]func(args []string){
	"probe":  probe,
	"escape": escape,
	"get":    get,
	"dial":   dial,
	"open": func([]string) {
		var kept []*os.File
		for {
			f, err := os.Open("/dev/null")
			if err != nil {
				fmt.Fprintln(os.Stderr, err, len(kept))
				time.Sleep(time.Hour)
			}
			kept = append(kept, f)
		}
	},
	"hold": func(args []string) {
		f, err := os.OpenFile(args[0], os.O_CREATE|os.O_RDWR, 0o666)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err == nil {
			err = os.WriteFile(args[0]+".ready", nil, 0o666)
		}
		fmt.Fprintln(os.Stderr, err)
		time.Sleep(time.Hour)
	},
}

// asAccount starts a program as the account, or as ours if it is less than 0.
func asAccount(account int) *syscall.SysProcAttr {
	if account < 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(account),
		Gid: uint32(account)}}
}

// A lair is where a program runs in a test.
type lair struct {
	*testing.T
	self, own, export string
	entry             audit.AuditorEntry
	box               *Box
}

// A confinementKind is what confines a program in a test; the tests run with each.
type confinementKind string

const (
	bubblewrap confinementKind = "bubblewrap"
	landlocked confinementKind = "Landlock"
	bare       confinementKind = "bare"
)

// tempDir returns a temporary folder that any account can get to.
func tempDir(t *testing.T) string {
	dir := t.TempDir()
	letIn(t, dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// letIn has other accounts enter the folders above a path: those of go test are closed.
func letIn(t *testing.T, p string) {
	for shut := shutAbove(p); shut != ""; shut = shutAbove(p) {
		info, err := os.Stat(shut)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(shut, info.Mode().Perm()|0o011))
	}
}

func newLair(t *testing.T, kind confinementKind) *lair {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	l := &lair{T: t, self: self, own: tempDir(t), export: filepath.Join(tempDir(t), "src")}
	letIn(t, self)
	require.NoError(t, os.Chmod(l.own, 0o777))
	require.NoError(t, os.Mkdir(l.export, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(l.export, "A.java"),
		[]byte("class A {}\n"), 0o400))
	l.entry = audit.AuditorEntry{Name: "program", Reads: []string{self}, Writes: []string{l.own},
		Pos: audit.Pos{File: "auditors.md", Line: 7}}
	if kind == bare {
		return l
	}
	withoutBubblewrap = kind == landlocked
	t.Cleanup(func() { withoutBubblewrap = false })
	missing := Missing()
	if s, _ := confiner(); kind == bubblewrap && s.bwrap == "" && missing == "" {
		missing = "bubblewrap does not work here"
	}
	if missing != "" {
		if os.Getenv("ASSAY_CHECK") != "" {
			t.Fatalf("no confinement to test: %s (ASSAY_CHECK is set: everything should be here)",
				missing)
		}
		t.Skipf("no confinement to test: %s", missing)
	}
	var exposed string
	l.box, exposed, err = New(&l.entry, l.export)
	require.NoError(t, err)
	if landlockABI() >= abiTCP || kind == bubblewrap {
		require.Empty(t, exposed)
	}
	return l
}

// confined runs a test with each kind of confinement.
func confined(t *testing.T, f func(t *testing.T, l *lair)) {
	for _, kind := range []confinementKind{bubblewrap, landlocked} {
		t.Run(string(kind), func(t *testing.T) { f(t, newLair(t, kind)) })
	}
}

// both runs a test with each kind of confinement and with none.
func both(t *testing.T, f func(t *testing.T, l *lair)) {
	confined(t, f)
	t.Run(string(bare), func(t *testing.T) { f(t, newLair(t, bare)) })
}

// run runs a line of the shell, in which $SELF is this binary and $OWN a folder
// that it may write. The home lives as long as the test.
func (l *lair) run(line string, edit ...func(*Process)) (Exit, *Home) {
	l.Helper()
	home, err := NewHome(map[string]string{"told.txt": "as told\n"})
	require.NoError(l, err)
	l.Cleanup(func() { _ = home.Close() })
	p := Process{Dir: l.export, Command: Shell(line), Box: l.box, Home: home,
		Timeout: 10 * time.Minute,
		Env: append(Environment(nil, home), "ASSAY_OUT="+home.Out(), "SELF="+l.self, "OWN="+
			l.own)}
	for _, f := range edit {
		f(&p)
	}
	e, err := p.Run(context.Background())
	require.NoError(l, err)
	return e, home
}

func limits(x audit.Limits) func(*Process) { return func(p *Process) { p.Limits = x } }

// free waits until nobody holds the lock: its holder is dead.
func (l *lair) free(name string) {
	l.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(l, err, "the child never began")
	defer f.Close()
	require.NoError(l, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
}

func TestHome(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		e, home := l.run(
			`cat "$HOME/told.txt" A.java; echo mine > "$HOME/mine" && echo tmp > "$TMPDIR/mine" && echo report > "$ASSAY_OUT/r" && pwd`)
		require.Equal(t, 0, e.Code, string(e.Stderr))
		require.Equal(t, "as told\nclass A {}\n"+l.export+"\n", string(e.Stdout))
		b, err := home.Read("r", 10)
		require.NoError(t, err)
		require.Equal(t, "report\n", string(b))
		require.Empty(t, e.Crossed)
		t.Log(e.Confined)
		require.Contains(t, e.Confined, "; limits by ")
		require.Equal(t, l.box == nil, strings.HasPrefix(e.Confined, "no sandbox"))
	})
}

// TestReadReport checks that a report is read only if it is a plain file in the folder that the
// program was given.
func TestReadReport(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		elsewhere := tempDir(t)
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "r"), []byte("forged"), 0o644))
		for line, want := range map[string]string{
			`rm -rf "$ASSAY_OUT"; ln -s ` + elsewhere +
				` "$ASSAY_OUT"`: "it put a link in the place of the folder $ASSAY_OUT",
			`mv "$ASSAY_OUT" "$ASSAY_OUT.old"; mkdir "$ASSAY_OUT"; echo x > "$ASSAY_OUT/r"`: "it put a folder in the place of the folder $ASSAY_OUT",
			`rm -rf "$ASSAY_OUT"; echo x > "$ASSAY_OUT"`:                                    "it put a file in the place of the folder $ASSAY_OUT",
			`rm -rf "$ASSAY_OUT"`: "it removed the folder $ASSAY_OUT",
			`:`:                   "it wrote no report to $ASSAY_OUT/r",
			`ln -s ` + elsewhere +
				`/r "$ASSAY_OUT/r"`: "$ASSAY_OUT/r is a link: expected a file",
			`ln -s /proc/self/mem "$ASSAY_OUT/r"`:             "$ASSAY_OUT/r is a link: expected a file",
			`echo x > "$ASSAY_OUT/s"; ln -s s "$ASSAY_OUT/r"`: "$ASSAY_OUT/r is a link: expected a file",
			`mkfifo "$ASSAY_OUT/r"`:                           "$ASSAY_OUT/r is a FIFO: expected a file",
			`mkdir "$ASSAY_OUT/r"`:                            "$ASSAY_OUT/r is a folder: expected a file",
			`truncate -s 1G "$ASSAY_OUT/r"`:                   "its report is larger than 1 MB: 1073741824 bytes, of which it wrote 0",
			`head -c 1048577 /dev/zero > "$ASSAY_OUT/r"`:      "its report is larger than 1 MB",
			`head -c 1048576 /dev/zero > "$ASSAY_OUT/r"`:      "",
			`echo x > "$ASSAY_OUT/r"; chmod 0 "$ASSAY_OUT/r" "$ASSAY_OUT"; chmod 0700 "$ASSAY_OUT"; ls /`: map[bool]string{true: "", false: "permission denied"}[os.Geteuid() == 0],
		} {
			e, home := l.run(line)
			_, err := home.Read("r", 1<<20)
			if want == "" {
				require.NoError(t, err, line)
				continue
			}
			require.ErrorContains(t, err, want, "%s\n%s", line, e.Stderr)
		}
	})
}

// TestDeviceAsReport checks that a device is no report. Only root can make one.
func TestDeviceAsReport(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a device")
	}
	l := newLair(t, bare)
	e, home := l.run(`mknod "$ASSAY_OUT/r" c 1 5`)
	require.Equal(t, 0, e.Code, string(e.Stderr))
	_, err := home.Read("r", 0)
	require.ErrorContains(t, err, "$ASSAY_OUT/r is a device: expected a file")
	l = newLair(t, bubblewrap)
	e, _ = l.run(`mknod "$ASSAY_OUT/r" c 1 5`)
	require.NotEqual(t, 0, e.Code)
}

func TestLimits(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		for name, c := range map[string]struct {
			line, want string
			limits     audit.Limits
		}{
			"memory": {`head -c 100000000 /dev/zero | tail -c 90000000 | sleep 1000`,
				"more than 64 MB of memory (the limit Memory", audit.Limits{Memory: 64 << 20}},
			"processes": {`for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do sleep 1000 & done; wait`,
				"more than 12 processes and threads (the limit Processes",
				audit.Limits{Processes: 12}},
			"no end of them": {`(while :; do sleep 1000 & done) 2> /dev/null; sleep 1000`,
				"more than 50 processes and threads (the limit Processes",
				audit.Limits{Processes: 50}},
			"open files": {`"$SELF" open`,
				"one process had 64 open files (the limit Open files", audit.Limits{OpenFiles: 64}},
			"CPU time": {`while :; do :; done`,
				"more than 1s of CPU time (the limit CPU time", audit.Limits{CPU: time.Second}},
			"one big file": {`head -c 20000000 /dev/zero > "$TMPDIR/big"`,
				"more than 8 MB of disk (the limit Disk", audit.Limits{Disk: 8 << 20}},
			"many files": {`for i in 1 2 3 4; do head -c 3000000 /dev/zero > "$ASSAY_OUT/$i"; done`,
				"more than 8 MB of disk (the limit Disk", audit.Limits{Disk: 8 << 20}},
			"empty files": {`i=0; while test $i -lt 3000; do : > "$TMPDIR/$i"; i=$((i+1)); done`,
				"more than 8 MB of disk (the limit Disk", audit.Limits{Disk: 8 << 20}},
			"the usual": {`head -c 3000000 /dev/zero > "$ASSAY_OUT/x"`, "", audit.Limits{}},
			"within limits": {`head -c 3000000 /dev/zero > "$ASSAY_OUT/x"`, "",
				audit.Limits{Memory: 512 << 20, Processes: 100, OpenFiles: 100, CPU: time.Hour,
					Disk: 8 << 20}},
		} {
			t.Run(name, func(t *testing.T) {
				e, _ := l.run(c.line, limits(c.limits))
				if c.want == "" {
					require.Empty(t, e.Crossed)
					require.Equal(t, 0, e.Code, string(e.Stderr))
					return
				}
				require.Contains(t, e.Crossed, c.want, "exit status %d: %s", e.Code, e.Stderr)
			})
		}
	})
}

// TestGrowthOfWritesIsLimited checks that a folder of Writes may grow by the limit, whatever it
// held before, and that files without a name count.
func TestGrowthOfWritesIsLimited(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		before := filepath.Join(l.own, "before")
		require.NoError(t, os.WriteFile(before, make([]byte, 20<<20), 0o600))
		require.NoError(t, os.Chmod(before, 0o666))
		for name, c := range map[string]struct{ line, want string }{
			"within": {`head -c 3000000 /dev/zero > "$OWN/x"`, ""},
			"one file": {`head -c 20000000 /dev/zero > "$OWN/x"; sleep 1000`,
				"more than 8 MB of disk in " + l.own + " (the limit Disk"},
			"many files": {`for i in 1 2 3 4; do head -c 3000000 /dev/zero > "$OWN/$i"; done`,
				"more than 8 MB of disk in " + l.own},
			"no name": {`exec 3> "$OWN/x" 4> "$OWN/y"; rm "$OWN/x" "$OWN/y"; head -c 5000000 /dev/zero >&3; head -c 5000000 /dev/zero >&4; sleep 1000`, "more than 8 MB of disk in " + l.own},
		} {
			e, _ := l.run(c.line, limits(audit.Limits{Disk: 8 << 20}))
			if c.want == "" {
				require.Empty(t, e.Crossed, name)
				require.Equal(t, 0, e.Code, "%s: %s", name, e.Stderr)
			} else {
				require.Contains(t, e.Crossed, c.want, name)
			}
			for _, left := range []string{"x", "1", "2", "3", "4"} {
				require.NoError(t, os.RemoveAll(filepath.Join(l.own, left)))
			}
		}
		l.entry.Writes = []string{before}
		var err error
		l.box, _, err = New(&l.entry, l.export)
		require.NoError(t, err)
		e, _ := l.run(`head -c 3000000 /dev/zero >> `+before, limits(audit.Limits{Disk: 8 << 20}))
		require.Empty(t, e.Crossed)
		require.Equal(t, 0, e.Code, "%s", e.Stderr)
		e, _ = l.run(`head -c 9000000 /dev/zero >> `+before, limits(audit.Limits{Disk: 8 << 20}))
		require.Contains(t, e.Crossed, "more than 8 MB of disk in "+before)
	})
}

// TestScratchFoldersAreLimited checks that the folders which everybody may write, and which are
// in memory, are limited.
func TestScratchFoldersAreLimited(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		if !l.box.sized {
			t.Skip("this bubblewrap makes no file systems of limited size")
		}
		for _, dir := range scratch {
			e, _ := l.run("head -c 20000000 /dev/zero > "+dir+"/big",
				limits(audit.Limits{Disk: 8 << 20}))
			require.Contains(t, e.Crossed, "more than 8 MB of disk", dir)
		}
		e, _ := l.run(
			"for d in / /dev /proc /etc /usr /root /home /var; do test -w $d && echo $d; done; :")
		require.Empty(t, string(e.Stdout))
	})
}

// TestAllProcessesEnd checks that a process that left the group, the session, its environment
// and its parent ends with the run.
func TestAllProcessesEnd(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		line := `(env -i setsid "$SELF" hold "$OWN/lock" < /dev/null > /dev/null 2>&1 &) ; until test -e "$OWN/lock.ready"; do sleep 0.01; done; `
		e, _ := l.run(line + "exit 3")
		require.Equal(t, 3, e.Code, string(e.Stderr))
		l.free(filepath.Join(l.own, "lock"))

		e, _ = l.run(`rm "$OWN/lock.ready"; ` + line + `kill -KILL $$`)
		require.Equal(t, syscall.SIGKILL, e.Signal(), e.Code)
		l.free(filepath.Join(l.own, "lock"))
	})
}

// TestProgramOutsideTheSandbox checks that a command whose program the sandbox hides is an error
// that says what to do, before anything starts.
func TestProgramOutsideTheSandbox(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		script := filepath.Join(tempDir(t), "tool.sh")
		require.NoError(t, os.WriteFile(script, []byte("echo ran\n"), 0o644))
		l.entry.Command = "sh " + script
		_, _, err := New(&l.entry, l.export)
		require.EqualError(t, err, "auditors.md:7: program: its command names "+script+
			", which it may not see: add the file, or a folder that holds it and no answers, to its Reads")
		l.entry.Reads = append(l.entry.Reads, script)
		l.box, _, err = New(&l.entry, l.export)
		require.NoError(t, err)
		e, _ := l.run(l.entry.Command)
		require.Equal(t, "ran\n", string(e.Stdout))
	})
}

// TestAssayIsHidden checks that the binaries with the keys embedded are hidden, unless the
// section's command runs assay.
func TestAssayIsHidden(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		dir := tempDir(t)
		installed := filepath.Join(dir, "assay")
		require.NoError(t, os.WriteFile(installed, []byte("#!/bin/sh\necho the keys\n"), 0o755))
		t.Setenv("PATH", dir+":"+filepath.Dir(l.self)+":"+os.Getenv("PATH"))
		l.entry.Reads = nil
		for command, want := range map[string]string{"agent --go": "none\nhidden\n",
			"assay control paths": "the keys\nseen\n"} {
			l.entry.Command = command
			var err error
			l.box, _, err = New(&l.entry, l.export)
			require.NoError(t, err)
			e, _ := l.run(
				`assay 2> /dev/null || echo none; if head -c 4 "$SELF" 2> /dev/null | grep -q ELF; then echo seen; else echo hidden; fi`)
			require.Equal(t, want, string(e.Stdout), string(e.Stderr))
		}
	})
}

// TestHiddenFolders checks that the folders of Hide are hidden like those of the environment.
func TestHiddenFolders(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		dir := tempDir(t)
		require.NoError(t, os.Chmod(dir, 0o755))
		for _, name := range []string{"root", "clones", "other"} {
			require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, name+".md"), nil, 0o644))
		}
		t.Cleanup(func() { hidden = nil })
		Hide(filepath.Join(dir, "root"), "", filepath.Join(dir, "clones", "{owner}", "{name}"))
		l.entry.Reads = append(l.entry.Reads, dir)
		var err error
		l.box, _, err = New(&l.entry, l.export)
		require.NoError(t, err)
		e, _ := l.run("cd " + dir + " && ls root clones/* other; cat root/root.md clones/clones.md")
		require.Contains(t, string(e.Stdout), "other.md\n", string(e.Stderr))
		require.NotContains(t, string(e.Stdout), "root.md")
		require.NotContains(t, string(e.Stdout), "clones.md")
		require.Equal(t, 2, strings.Count(string(e.Stderr), "cat: "), string(e.Stderr))
		l.entry.Reads = []string{filepath.Join(dir, "root")}
		_, _, err = New(&l.entry, l.export)
		require.ErrorContains(t, err, "holds answer keys")
	})
}

// TestLinkAroundHiddenFolders checks that a link to a folder around hidden ones shows no more
// than the folder itself.
func TestLinkAroundHiddenFolders(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		dir := tempDir(t)
		key := filepath.Join(dir, "root", "key.md")
		require.NoError(t, os.Mkdir(filepath.Dir(key), 0o755))
		require.NoError(t, os.WriteFile(key, []byte("the answers\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "open"), []byte("open\n"), 0o644))
		require.NoError(t, os.Symlink(filepath.Dir(key), filepath.Join(dir, "inner")))
		link := filepath.Join(tempDir(t), "link")
		require.NoError(t, os.Symlink(dir, link))
		t.Setenv("ASSAY_ROOT", filepath.Dir(key))
		l.entry.Reads = append(l.entry.Reads, link)
		var err error
		l.box, _, err = New(&l.entry, l.export)
		require.NoError(t, err)
		e, _ := l.run("cat " + link + "/open " + link + "/root/key.md " + link + "/inner/key.md " +
			key)
		require.Equal(t, "open\n", string(e.Stdout))

		inner := filepath.Join(tempDir(t), "inner")
		require.NoError(t, os.Symlink(filepath.Dir(key), inner))
		l.entry.Reads = []string{inner}
		_, _, err = New(&l.entry, l.export)
		require.ErrorContains(t, err, "holds answer keys")
	})
}

// TestWholeMachineIsRefused checks that no section may read / or /proc.
func TestWholeMachineIsRefused(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		link := filepath.Join(tempDir(t), "link")
		require.NoError(t, os.Symlink("/", link))
		for _, p := range []string{"/", "//", "/proc", "/proc/self/environ", link} {
			l.entry.Reads = []string{p}
			_, _, err := New(&l.entry, l.export)
			require.ErrorContains(t, err, "auditors.md:7: program: Reads names "+p+
				", by which it would see the processes of this machine")
		}
	})
}

// TestExportOutOfReach checks that an export below a folder that only root may enter is an
// error if bubblewrap shows that folder, and always with Landlock.
func TestExportOutOfReach(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		if !l.box.drops {
			t.Skip("it runs as this account")
		}
		dir := tempDir(t)
		private := filepath.Join(dir, "private")
		export := filepath.Join(private, "src")
		require.NoError(t, os.MkdirAll(export, 0o755))
		require.NoError(t, os.Chmod(private, 0o700))
		t.Setenv("SCRATCH", dir)
		_, _, err := New(&l.entry, export)
		if l.box.landlock > 0 {
			require.ErrorContains(t, err, "auditors.md:7: program: it needs "+export+
				", and uid 65534 may not enter "+private)
		} else {
			require.NoError(t, err)
			l.entry.Env = []string{"SCRATCH"}
			_, _, err = New(&l.entry, export)
			require.ErrorContains(t, err, "auditors.md:7: program: it sees "+dir+
				", and the export lies in there below "+private+
				", which uid 65534 may not enter: set TMPDIR to a folder elsewhere")
			t.Setenv("ASSAY_ROOT", private)
			_, _, err = New(&l.entry, export)
			require.NoError(t, err, "what is hidden around it is a folder of the sandbox's own")
			t.Setenv("ASSAY_ROOT", "")
		}
		require.NoError(t, os.Chmod(private, 0o711))
		_, _, err = New(&l.entry, export)
		require.NoError(t, err)
	})
}

// TestPrivateFolders checks that a program that runs as another account cannot read what only
// root may read.
func TestPrivateFolders(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		if !l.box.drops {
			t.Skip("it runs as this account")
		}
		dir := tempDir(t)
		require.NoError(t, os.Chmod(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "open"), []byte("open\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "shut"), []byte("shut\n"), 0o600))
		l.entry.Reads = append(l.entry.Reads, dir)
		box, _, err := New(&l.entry, l.export)
		if l.box.landlock > 0 {
			require.ErrorContains(t, err, "it needs "+dir+", and uid 65534 may not enter "+dir)
		} else {
			require.NoError(t, err)
			l.box = box
			e, _ := l.run("cat " + dir + "/*")
			require.Equal(t, "open\n", string(e.Stdout))
		}

		l.entry.Reads = []string{filepath.Join(dir, "shut")}
		_, _, err = New(&l.entry, l.export)
		require.ErrorContains(t, err, "auditors.md:7: program: its Reads names "+dir+
			"/shut, which it could not read: where we are root it runs as uid 65534")
		l.entry.Reads, l.entry.Writes = nil, []string{dir}
		_, _, err = New(&l.entry, l.export)
		require.ErrorContains(t, err, "so give it the folder: chown -R 65534 "+dir)

		// A folder with the answers is not opened entry by entry.
		t.Setenv("ASSAY_ROOT", dir)
		l.entry.Reads, l.entry.Writes = []string{dir}, nil
		_, _, err = New(&l.entry, l.export)
		require.ErrorContains(t, err, "holds answer keys")
	})
}
