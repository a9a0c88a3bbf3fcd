package planted_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/internal/planted"
	"assay/internal/postgres"
)

// server gives a PostgreSQL; where something is missing the test is skipped, or
// fails where ./check has installed it.
func server(t *testing.T) *postgres.Loopback {
	s, err := postgres.StartLoopback(t.Context())
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// TestVerifyDesk proves the tiny project: its key is true and whole.
func TestVerifyDesk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and six draws")
	}
	o := planted.ProofOptions{Servers: []planted.DatabaseServer{server(t), server(t)},
		Cache: t.TempDir(), Quick: true}
	proof, err := planted.Verify(t.Context(), read(t, desk(t)), o)
	require.NoError(t, err)
	require.Empty(t, tell(proof, true))
	require.Equal(t, []int{4, 4 * 8}, []int{proof.Draws, len(proof.Outcomes)})
	require.Contains(t, tell(proof, false), "desk: 4 draws, 32 of 32 outcomes as expected")
}

func tell(p *planted.Proof, failedAlone bool) string {
	var b strings.Builder
	if p.Print(&b); failedAlone && len(p.Failed()) == 0 {
		return ""
	}
	return b.String()
}

// noDatabases stand in where no step asks for one.
type noDatabases struct{ given, dropped int }

func (n *noDatabases) Database(context.Context) (string, func(), error) {
	n.given++
	return "postgres://app:secret@127.0.0.1:1/app", func() { n.dropped++ }, nil
}

func (n *noDatabases) Bin() string { return "" }

// served is a project whose start serves /healthz and whose other steps are given.
func served(t *testing.T, commands map[string]string) *planted.Template {
	fsys := desk(t)
	doc := string(fsys["desk/project.md"].Data)
	// Sockets alone: the standard library's server takes ten times as long to begin.
	commands["start"] = `python3 -SEc "import os, socket; s = socket.create_server(('127.0.0.1', int(os.environ['PORT']))); ` +
		`[(c.recv(9999), c.sendall(b'HTTP/1.0 200 OK\r\n\r\n'), c.close()) for c in iter(lambda: s.accept()[0], None)]"`
	var lines []string
	for _, l := range strings.Split(doc, "\n") {
		cells := strings.Split(l, "|")
		for step, line := range commands {
			if len(cells) == 4 && strings.TrimSpace(cells[1]) == step {
				l = "| " + step + " | " + strings.ReplaceAll(line, "|", `\|`) + " |"
			}
		}
		lines = append(lines, l)
	}
	fsys["desk/project.md"] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))}
	return read(t, fsys)
}

// TestVerifyFinds: every way in which a key can be untrue, and a step can fail,
// is told.
func TestVerifyFinds(t *testing.T) {
	always := `answer() { for s in "$@"; do echo "{\"site\":\"$s\",\"succeeded\":true,\"detail\":\"read 3\"}"; done; }; answer`
	for name, c := range map[string]struct {
		commands map[string]string
		want     []string
	}{
		"answers": {map[string]string{"exploit": `echo '{"site":"CASH-1","succeeded":true,"detail":"read 3"}'; echo '{"site":"CASH-2","succeeded":false,"detail":"read 0"}'; ` +
			`echo '{"site":"NOTE-1"}'; echo '{"site":"NOTE-2","error":"no user"}'; exit 1;`},
			[]string{"all good: exploit CASH-1: the site is good and the exploit succeeds: expected none (read 3)",
				"all bad: exploit CASH-2: the site is bad and the exploit does not succeed: expected success (read 0)",
				`NOTE-1: the answer lacks "succeeded"`,
				"NOTE-2: an error instead of an answer: no user"}},
		"no answer": {map[string]string{"exploit": `echo no; false`},
			[]string{"exploit CASH-1: no answer: expected a line like", "exploit: exit status 1",
				"    no\n", "the application still runs"}},
		"silence": {map[string]string{"exploit": `echo hidden; echo why >&2; :`},
			[]string{"no answer: expected a line like",
				"exploit: exit status 0\n    hidden\n    why"}},
		"build": {map[string]string{"build": "echo broken >&2; exit 3"},
			[]string{"build: exit status 3", "    broken", "all good: build: exit"}},
		"missing": {map[string]string{"build": "no-such-compiler"},
			[]string{"exit status 127: a program is missing", "no-such-compiler"}},
		"tests": {map[string]string{"test": "echo unit; false",
			"functional": "echo outside; false"},
			[]string{"test: exit status 1\n    unit", "functional: exit status 1\n    outside",
				"the application still runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			for step, quiet := range map[string]string{"setup": "", "build": "", "test": "true",
				"functional": "true", "exploit": always} {
				c.commands[step] = cmp.Or(c.commands[step], quiet)
			}
			p := served(t, c.commands)
			db := &noDatabases{}
			proof, err := planted.Verify(t.Context(), p,
				planted.ProofOptions{Servers: []planted.DatabaseServer{db}, Cache: t.TempDir(), Quick: true})
			require.NoError(t, err)
			require.Equal(t, db.given, db.dropped)
			require.NotEmpty(t, proof.Failed())
			var all []string
			for _, o := range proof.Failed() {
				all = append(all, o.Draw+": "+o.String())
			}
			for _, want := range c.want {
				require.Contains(t, strings.Join(all, "\n"), want)
			}
		})
	}
}

// TestVerifyStartFails: an application that ends is told with what it said.
func TestVerifyStartFails(t *testing.T) {
	fsys := desk(t)
	edit(t, fsys, "project.md", "| python3 -m desk.server |", "| echo no port; exit 4 |")
	edit(t, fsys, "project.md", "| python3 -m unittest -q tests.test_rules |", "| true |")
	proof, err := planted.Verify(t.Context(), read(t, fsys),
		planted.ProofOptions{Servers: []planted.DatabaseServer{&noDatabases{}}, Cache: t.TempDir(), Quick: true})
	require.NoError(t, err)
	require.Contains(t, tell(proof, true),
		"start: the application ended before GET /healthz answered 200 (exit status 4)\n      no port")
}

func TestVerifyMissing(t *testing.T) {
	fsys := desk(t)
	edit(t, fsys, "project.md", "| python3 -m desk.server |", "| composer serve |")
	if _, err := exec.LookPath("composer"); err == nil {
		t.Skip("composer is installed")
	}
	_, err := planted.Verify(t.Context(), read(t, fsys),
		planted.ProofOptions{Servers: []planted.DatabaseServer{&noDatabases{}}})
	require.ErrorIs(t, err, planted.ErrMissing)
	require.ErrorContains(t, err, "desk: not installed: composer (Debian's composer)")
}

// TestVerifySetup: the setup runs once for its content.
func TestVerifySetup(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	p := served(t, map[string]string{"setup": "echo x >> " + count, "build": "false",
		"test": "true", "functional": "true"})
	o := planted.ProofOptions{Servers: []planted.DatabaseServer{&noDatabases{}}, Cache: t.TempDir(), Quick: true}
	for range 2 {
		_, err := planted.Verify(t.Context(), p, o)
		require.NoError(t, err)
	}
	b, err := os.ReadFile(count)
	require.NoError(t, err)
	require.Equal(t, "x\n", string(b))
	p = served(t, map[string]string{"setup": "echo gone; false"})
	_, err = planted.Verify(t.Context(), p, o)
	require.EqualError(t, err, "setup: exit status 1\n    gone")
}

// TestVerifyStops: whoever waits for it can end it, and nothing is left.
func TestVerifyStops(t *testing.T) {
	left := filepath.Join(t.TempDir(), "pid")
	p := served(t, map[string]string{"setup": "true", "build": "sleep 1000 & echo $! > " + left +
		"; wait"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := planted.Verify(ctx, p, planted.ProofOptions{Servers: []planted.DatabaseServer{&noDatabases{}},
			Cache: t.TempDir(), Quick: true})
		done <- err
	}()
	require.Eventually(t, func() bool { b, _ := os.ReadFile(left); return len(b) > 1 },
		waitLimit, waitStep)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	b, err := os.ReadFile(left)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return gone(strings.TrimSpace(string(b))) },
		waitLimit, waitStep)
}

// TestPairs: in the covering array every two sites stand in all four
// combinations, in few draws.
func TestPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 150).Draw(t, "sites")
		p := big(t, n)
		plans := slices.DeleteFunc(p.DrawTests(false),
			func(p planted.DrawTest) bool { return !strings.HasPrefix(p.Label, "pairs") })
		require.LessOrEqual(t, len(plans), 12)
		var rows []map[string]bool
		for _, plan := range plans {
			row := map[string]bool{}
			for _, id := range plan.Draw.Bad() {
				row[id] = true
			}
			rows = append(rows, row)
		}
		for i, a := range p.Sites {
			for _, b := range p.Sites[:i] {
				seen := map[[2]bool]bool{}
				for _, row := range rows {
					seen[[2]bool{row[a.ID], row[b.ID]}] = true
				}
				require.Len(t, seen, 4, "%s and %s", a.ID, b.ID)
			}
		}
	})
}

func TestPlans(t *testing.T) {
	p := big(t, 65)
	require.Len(t, p.DrawTests(true), 2+2)
	plans := p.DrawTests(false)
	require.Len(t, plans, 2+2*65+20+10)
	require.Equal(t, p.Draw(7).Bad(), plans[2+2*65+6].Draw.Bad())
	functional := 0
	for _, plan := range plans[2 : 2+2*65] {
		require.Len(t, plan.Exploits, 1)
		if plan.Functional {
			functional++
		}
	}
	require.Equal(t, 17+16, functional, "of the flips a quarter runs the functional tests")
}

// TestHash: what a proof depends on changes the hash, and what is only said does not.
func TestHash(t *testing.T) {
	before := read(t, desk(t)).Hash()
	for _, c := range []struct {
		file, from, to string
		changes        bool
	}{
		{"source/desk/rules.py", "owner > %s", "owner >= %s", true},
		{"functional/run.py", "6 checks", "six checks", true},
		{"exploits/client.py", "timeout=10", "timeout=11", true},
		{"project.md", "python3 -m desk.server", "python3 -u -m desk.server", true},
		{"project.md", "Notes of others can be read", "Others' notes can be read", false},
	} {
		fsys := desk(t)
		edit(t, fsys, c.file, c.from, c.to)
		require.Equal(t, c.changes, read(t, fsys).Hash() != before, "%s: %s", c.file, c.to)
	}
}
