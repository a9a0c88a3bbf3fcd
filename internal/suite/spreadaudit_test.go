//go:build unix

package suite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/record"
	"assay/internal/run/testdata/mockapi"
)

// workersDid counts the audits that workers brought to an end.
func workersDid(t *testing.T, dsn string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.NoError(t, conn.QueryRow(context.Background(),
		"SELECT count(*) FROM river_job WHERE kind = 'audit' AND state = 'completed'").Scan(&n))
	return n
}

// TestAModelAuditsAPlantedProjectWithWorkers: they draw it themselves, and what an
// audit may cost is what the process that asked says.
func TestAModelAuditsAPlantedProjectWithWorkers(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	h.copy("fixtures/prompts/audit-prompt.txt")
	require.NoError(t, os.CopyFS(h.path("fixtures/planted/marina"),
		os.DirFS("../../fixtures/planted/marina")))
	dsn := h.postgres()
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if !strings.Contains(string(r.Body), `"tool_calls"`) {
			return mockapi.Reply{Calls: []mockapi.Call{{Name: "list", Arguments: "{}"}}, Cost: 0.01}
		}
		var b strings.Builder
		_ = findings.WriteText(&b, findings.TextReport{Root: ".", Coverage: audit.Dimensions()})
		return mockapi.Reply{Content: b.String(), Cost: 0.03}
	})
	t.Cleanup(s.Close)
	t.Setenv("ASSAY_BASE_URL", s.BaseURL)
	t.Setenv("ASSAY_API_KEY", canary)
	h.worker(1, false)
	f := play(t, "TestRegression", h.suite("-auditor", "gpt-4o-mini", "-filter",
		"marina", "-seed", "7").Regression)
	require.Equal(t, "FAIL", f.attrs["verdict:gpt-4o-mini/marina@7"], f.complaints())
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	require.Len(t, rs, 1)
	require.Empty(t, rs[0].Trials[0].Invalid)
	require.InDelta(t, 0.04, rs[0].Trials[0].Usage.USD, 1e-9)
	require.Equal(t, 1, workersDid(t, dsn))
}

// TestAnAuditWhoseAskerWasKilled: what workers did for it is taken by whoever asks
// continues the run, done or under way, and not paid twice.
func TestAnAuditWhoseAskerWasKilled(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	l := newLab(t, 1, "-until "+gate)
	l.corpus(1)
	dsn := l.postgres()
	l.worker(2, false)
	for _, under := range []bool{false, true} {
		require.NoError(t, os.RemoveAll(gate))
		require.NoError(t, os.RemoveAll(l.books))
		const trials = "2"
		var out bytes.Buffer
		cmd := l.start(&out, "-trials", trials)
		l.await("begun", 2)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if !under {
			require.NoError(t, os.WriteFile(gate, nil, 0o644))
			l.await("ended", 2)
		}
		next := l.start(&out, "-trials", trials)
		if under {
			require.NoError(t, os.WriteFile(gate, nil, 0o644))
		}
		require.NoError(t, next.Wait(), "%s", &out)
		require.Equal(t, 2, l.entries("begun"), "%s", &out)
		require.Contains(t, out.String(), "$0.16 now", "its cost is known")
	}
	text, code := l.run("-trials", "1")
	require.Zero(t, code, text)
	require.Equal(t, 3, l.entries("begun"))
	require.Equal(t, 5, workersDid(t, dsn))
}

// TestBrokenProjectsAreMendedFirst: each is told at once, and until they are mended
// nothing is asked of anybody.
func TestBrokenProjectsAreMendedFirst(t *testing.T) {
	l := newLab(t, 3, "")
	l.edit("fixtures/projects/demo1.md", "| ID |", "| IDs |")
	l.write("fixtures/projects/demo2.tree.tsv", "")
	text, code := l.run()
	require.Equal(t, 1, code, text)
	require.Zero(t, l.entries("begun"), text)
	require.Contains(t, text, "fixtures/projects/demo1.md:")
	require.Contains(t, text, "fixtures/projects/demo2.md:")
	require.Contains(t, text, "nothing was started and nothing spent")
}
