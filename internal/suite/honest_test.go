package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/box"
	"assay/internal/record"
)

// shellAgent gives the house the agent "agent": agent/agent.sh, which reports the first
// findings of a report by the number in agent/lib/rules.txt, two folders down.
func (h *house) shellAgent(rows string) {
	h.write("agent/agent.sh",
		"set -e\nhere=$(dirname \"$0\")\nn=$(cat \"$here/lib/rules.txt\")\nhead -n $((8 + n)) \"$here/lib/report.txt\" | sed \"s/findings=.*/findings=$n/\"\nprintf '\\n=== SENTINEL: AUDIT COMPLETE ===\\n'\n")
	h.write("agent/lib/report.txt", found(20))
	h.write("agent/lib/rules.txt", "20\n")
	h.write("fixtures/auditors.md",
		"# Auditors\n\n## agent\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n| Timeout | 1m |\n| Cost | 0 |\n| Environment | AGENT_MODEL |\n"+rows+"\n```sh\nsh \"$ASSAY_FILES/agent/agent.sh\"\n```\n")
}

// newest returns the newest record of the house.
func (h *house) newest() *record.Record {
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, rs)
	return rs[len(rs)-1]
}

// TestAChangedAgentIsMeasuredAgain: half of an agent's rules are deleted, in a file that
// the section's pattern matches. The same command measures the new agent, and names what
// changed.
func TestAChangedAgentIsMeasuredAgain(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	h.shellAgent("| Files | agent/** |\n")
	t.Setenv("AGENT_MODEL", "big")
	play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	old := h.newest()
	require.Len(t, old.Trials, 1)
	require.InDelta(t, 1, old.Trials[0].Result.Metrics.Recall.V, 1e-9, "%s", old.Text())
	_, err := record.WriteBaseline(h.path("fixtures/baselines"), old, false)
	require.NoError(t, err)

	h.write("agent/lib/rules.txt", "10\n")
	t.Setenv("AGENT_MODEL", "small")
	play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	now := h.newest()
	require.InDelta(t, 0.5, now.Trials[0].Result.Metrics.Recall.V, 1e-9)
	require.Contains(t, now.Text(), "changed since the baseline: $AGENT_MODEL, agent/lib/rules.txt")
}

// TestWhatIsNotHashedCannotBeRead: a file of the agent that its section does not name is
// not in the sandbox, so that it cannot change the result unseen.
func TestWhatIsNotHashedCannotBeRead(t *testing.T) {
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	h := newHouse(t)
	h.repository(20)
	h.shellAgent("")
	play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	require.Contains(t, h.newest().Trials[0].Invalid, "lib/rules.txt: No such file")
	require.NotEmpty(t, h.newest().Parts["agent/agent.sh"], "the command line names it")
}

// TestLinksAreFollowedWithinTheRoot: the target of a link below the root is a part of the
// agent; a link that leaves the root is an error.
func TestLinksAreFollowedWithinTheRoot(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	h.shellAgent("| Files | agent/** |\n")
	h.write("shared/rules.txt", "20\n")
	require.NoError(t, os.Remove(h.path("agent/lib/rules.txt")))
	require.NoError(t, os.Symlink("../../shared/rules.txt", h.path("agent/lib/rules.txt")))
	play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	was := h.newest().Parts["agent/lib/rules.txt"]
	require.NotEmpty(t, was)
	h.write("shared/rules.txt", "10\n")
	play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	require.NotEqual(t, was, h.newest().Parts["agent/lib/rules.txt"])

	outside := filepath.Join(t.TempDir(), "rules.txt")
	require.NoError(t, os.WriteFile(outside, []byte("20\n"), 0o644))
	require.NoError(t, os.Remove(h.path("agent/lib/rules.txt")))
	require.NoError(t, os.Symlink(outside, h.path("agent/lib/rules.txt")))
	f := play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	require.Contains(t, strings.Join(f.complaints(), "\n"),
		"fixtures/auditors.md:3: agent: Files agent/**: ")
}

// TestBesideBareAndRevision: -beside compares an agent with itself without its skill, and
// with itself at a revision of git.
func TestBesideBareAndRevision(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	h.shellAgent(
		"| Files | agent/** |\n| Skill | skill/*.txt |\n| Command without skill | sh \"$ASSAY_FILES/agent/agent.sh\" |\n")
	h.write("skill/rules.txt", "20\n")
	h.edit("fixtures/auditors.md", "sh \"$ASSAY_FILES/agent/agent.sh\"\n```",
		"cp \"$ASSAY_FILES/skill/rules.txt\" \"$ASSAY_FILES/agent/lib/rules.txt\"; sh \"$ASSAY_FILES/agent/agent.sh\"\n```")
	h.write("agent/lib/rules.txt", "5\n")
	git := func(args ...string) {
		out, err := exec.Command("git",
			append([]string{"-C", h.dir, "-c", "user.name=a", "-c", "user.email=a@b.c"},
				args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	recall := func(r *record.Record) float64 { return r.Trials[0].Result.Metrics.Recall.V }

	s := h.suite("-auditor", "agent", "-beside", "bare")
	play(t, "TestRegression", s.Regression)
	require.Contains(t, strings.Join(s.summary.notes, "\n"),
		"agent: its skill adds +75.0 points of recall, +0.0 of precision, ")
	rec := h.newest()
	require.InDelta(t, 1, recall(rec), 1e-9, "%s", rec.Text())
	require.Equal(t, "agent (bare)", rec.Beside.Auditor)
	require.InDelta(t, 0.25, recall(rec.Beside), 1e-9)

	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "good")
	h.write("skill/rules.txt", "10\n")
	f := play(t, "TestRegression", h.suite("-auditor", "agent", "-beside", "git:HEAD").Regression)
	require.NotContains(t, strings.Join(f.complaints(), "\n"), "git:HEAD: ", "%v", f.complaints())
	t.Log(f.complaints())
	rec = h.newest()
	require.InDelta(t, 0.5, recall(rec), 1e-9, "%s", rec.Text())
	require.Equal(t, "agent (git:HEAD)", rec.Beside.Auditor)
	require.InDelta(t, 1, recall(rec.Beside), 1e-9)
	require.Contains(t, rec.Text(), "different beside it: skill/rules.txt")
	out, err := exec.Command("git", "-C", h.dir, "status", "--short", "--", "skill").Output()
	require.NoError(t, err)
	require.Equal(t, " M skill/rules.txt\n", string(out),
		"index and work tree of the user are untouched")

	f = play(t, "TestRegression", h.suite("-auditor", "agent", "-beside", "git:nosuch").Regression)
	require.Contains(t, f.complaints()[0], "-beside git:nosuch: git rev-parse: ")
	f = play(t, "TestRegression", h.suite("-auditor", "agent", "-beside", "older").Regression)
	require.Contains(t, f.complaints()[0], `no section "## older"`)
}

// TestEachCollapseIsConfirmed: of each auditor of a run, as long as the budget holds the
// second trials. Without them a collapse stays a WARN of one trial.
func TestEachCollapseIsConfirmed(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	h.agents(p.Vulnerabilities, "agent: -find 19", "other: -find 19")
	play(t, "TestRegression", h.suite("-auditor", "agent,other", "-trials", "3").Regression)
	baselines, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	for _, b := range baselines {
		_, err = record.WriteBaseline(h.path("fixtures/baselines"), b, false)
		require.NoError(t, err)
	}
	h.agents(p.Vulnerabilities, "agent: -find 1", "other: -find 1") // at 0.10 USD a trial
	for _, c := range []struct {
		budget, agent, other, note string
	}{
		{"0.20", "WARN", "WARN", "the budget holds no second trial"},
		{"0.35", "FAIL", "WARN",
			"other: the collapse of demo is not confirmed: the budget of $0.15 is used up"},
		{"0.40", "FAIL", "FAIL", "other: a second trial of demo was started"},
	} {
		t.Run(c.budget, func(t *testing.T) {
			s := h.suite("-auditor", "agent,other", "-budget", c.budget, "-concurrency", "1")
			f := play(t, "TestRegression", s.Regression)
			require.Equal(t, c.agent, f.attrs["verdict:agent/demo"], "%v", f.complaints())
			require.Equal(t, c.other, f.attrs["verdict:other/demo"], "%v", f.complaints())
			require.Contains(t, strings.Join(s.summary.notes, "\n"), c.note)
		})
	}
}

// TestAnUnconfinedAgentIsAWarning on the screen, and in the record.
func TestAnUnconfinedAgentIsAWarning(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	h.shellAgent("| Files | agent/** |\n")
	t.Setenv("ASSAY_SANDBOX", "off")
	s := h.suite("-auditor", "agent")
	f := play(t, "TestRegression", s.Regression)
	require.Equal(t, "WARN", f.attrs["verdict:agent/demo"], "%v", f.complaints())
	var b strings.Builder
	s.summary.show(&b, view{width: screenWidth, lines: screenLines})
	require.Contains(t, strings.Join(strings.Fields(b.String()), " "), "unconfined")

	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "bwrap"),
		[]byte("#!/bin/sh\nexit 1\n"), 0o755))
	t.Setenv("PATH", broken+":"+os.Getenv("PATH"))
	t.Setenv("ASSAY_SANDBOX", "")
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	s = h.suite("-auditor", "agent")
	play(t, "TestRegression", s.Regression)
	b.Reset()
	s.summary.show(&b, view{width: screenWidth, lines: screenLines})
	text := strings.Join(strings.Fields(b.String()), " ")
	require.Contains(t, text,
		"agent: confined by Landlock, as bubblewrap does not work here; unconfined: the names,")
	require.Contains(t, h.newest().Text(),
		"; unconfined: the names, sizes and times of files, the list of processes")
	require.Empty(t, h.newest().Trials[0].Exposed)

	t.Setenv("ASSAY_SANDBOX", "maybe")
	_, err := h.suite("-auditor", "agent").environment()
	require.ErrorContains(t, err, `ASSAY_SANDBOX is "maybe": expected off, require or nothing`)
}
