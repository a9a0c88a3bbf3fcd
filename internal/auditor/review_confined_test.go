package auditor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/box"
)

var reviewTask = audit.ReviewTask{Spec: "A shop.", Prompt: "Judge.", Language: "sql",
	Code: "SELECT 1"}

const verdict = `echo '{"verdict":"bad","explanation":"because"}'`

// reviewer gives a shell command line as a reviewer. $AGENT in it is the fake
// agent.
func (l *lair) reviewer(command string, edit ...func(*audit.AuditorEntry)) *commandReviewer {
	e := audit.AuditorEntry{Name: "fake", Kind: "agent", Timeout: 10 * time.Minute,
		Reads: []string{filepath.Dir(l.bin)}, Writes: []string{l.own},
		Command: strings.ReplaceAll(command, "$AGENT", l.bin),
		Pos:     audit.Pos{File: "auditors.md", Line: 7}}
	for _, f := range edit {
		f(&e)
	}
	return CommandReviewer(e).(*commandReviewer)
}

func (l *lair) review(c *commandReviewer) audit.Review {
	l.t.Helper()
	r, err := c.Review(context.Background(), reviewTask)
	require.NoError(l.t, err)
	require.Len(l.t, r.Attempts, 1)
	return r
}

// What a reviewer leaves behind is killed: a child in its group, and one that left
// it.
func TestAReviewerLeavesNobodyBehind(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		r := l.review(l.reviewer("$AGENT -silent -fork " + l.own + "/lock; " + verdict))
		require.Equal(t, audit.Bad, r.Verdict, r.Detail)
		l.free(l.own + "/lock.1")
		l.free(l.own + "/lock.2")
	})
}

// A gigabyte as an answer stops the reviewer; beside an answer in a file it is
// passed over.
func TestAReviewerFloods(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: gigabytes")
	}
	both(t, func(t *testing.T, l *lair) {
		r := l.review(l.reviewer("$AGENT -flood 1000000000; " + verdict))
		require.Equal(t, audit.Errored, r.Status)
		require.Equal(t, "it was stopped: its answer is larger than 1 MB", r.Detail)
		require.LessOrEqual(t, len(r.Raw), maxReply)
		inFile := func(e *audit.AuditorEntry) { e.Output = "answer.json" }
		r = l.review(l.reviewer("$AGENT -flood 1000000000; "+verdict+" > $ASSAY_OUT/answer.json",
			inFile))
		require.Equal(t, audit.Bad, r.Verdict, r.Detail)
		r = l.review(l.reviewer("head -c 2000000 /dev/zero > $ASSAY_OUT/answer.json", inFile))
		require.Equal(t, "its report is larger than 1 MB", r.Detail)
	})
}

// One that never ends is killed with its children at its timeout, and when the run
// is stopped, whether it listens or not.
func TestAReviewerNeverEnds(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		late := l.reviewer("$AGENT -deaf -fork "+l.own+"/lock",
			func(e *audit.AuditorEntry) { e.Timeout = 500 * time.Millisecond })
		late.grace = 300 * time.Millisecond
		r := l.review(late)
		require.Equal(t, "no answer within 500ms: all its processes were killed", r.Detail)
		if box.Exists(l.own + "/lock.1") {
			l.free(l.own + "/lock.1")
		}

		ready := filepath.Join(l.own, "ready")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			for ctx.Err() == nil && !box.Exists(ready) {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		c := l.reviewer("$AGENT -deaf -ready " + ready)
		c.grace = 300 * time.Millisecond
		r, err := c.Review(ctx, reviewTask)
		require.NoError(t, err)
		require.Equal(t, "stopped: context canceled", r.Detail)
	})
}

// It sees neither the keys, nor other processes, nor the user's home and
// environment, and has no network.
func TestAReviewerIsConfined(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		confined := kind(t) != "bare"
		t.Setenv("OPENROUTER_API_KEY", secret)
		t.Setenv("AGENT_HOME", "let-through")
		c := l.reviewer("(env; cat /proc/net/dev; $AGENT -silent -snoop canary-''5f2c1e -where="+
			l.key+" 2>&1) > "+l.own+"/seen; "+verdict,
			func(e *audit.AuditorEntry) { e.Env = []string{"AGENT_HOME"} })
		require.Equal(t, confined, c.Exposed() == "")
		r := l.review(c)
		require.Equal(t, audit.Bad, r.Verdict, r.Detail)
		b, err := os.ReadFile(l.own + "/seen")
		require.NoError(t, err)
		seen := string(b)
		require.Contains(t, seen, "LOOKED at ")
		require.Contains(t, seen, "AGENT_HOME=let-through")
		require.NotContains(t, seen, "OPENROUTER_API_KEY")
		home, err := os.UserHomeDir()
		require.NoError(t, err)
		require.NotContains(t, seen, "HOME="+home+"\n")
		require.Equal(t, !confined, strings.Contains(seen, "FOUND "+l.key),
			"unconfined it finds the key, so it can look")
		require.Equal(t, kind(t) == "by_Landlock", c.Unconfined() != "")
		if kind(t) == "confined" {
			require.NotRegexp(t, `(?m)^\s*(eth|en|wl|tap|tun|veth)`, seen)
			net := l.reviewer("cat /proc/net/dev > "+l.own+"/seen; "+verdict,
				func(e *audit.AuditorEntry) { e.Network.Open = true })
			l.review(net)
			b, err = os.ReadFile(l.own + "/seen")
			require.NoError(t, err)
			host, err := os.ReadFile("/proc/net/dev")
			require.NoError(t, err)
			require.Equal(t, strings.Count(string(host), "\n"), strings.Count(string(b), "\n"),
				"with an open network it has the machine's")
		}
	})
}

func TestAReviewerWritesWhereItMay(t *testing.T) {
	l := newLair(t, true)
	outside := filepath.Join(t.TempDir(), "outside")
	r := l.review(l.reviewer("$AGENT -silent -write " + outside +
		",/usr/assay-was-here,$HOME/mine,$TMPDIR/mine,$ASSAY_OUT/mine,$ASSAY_PROMPT 2> " + l.own +
		"/said; " + verdict))
	require.Equal(t, audit.Bad, r.Verdict, r.Detail)
	b, err := os.ReadFile(l.own + "/said")
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(b), "WROTE"), string(b))
	require.Equal(t, 2, strings.Count(string(b), "KEPT OUT"), string(b))
	require.NoFileExists(t, outside)
}

// A link that leads out of its folder brings nothing in.
func TestAReviewersAnswerIsItsOwn(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		c := l.reviewer("ln -s ../../../.."+l.key+"/fixtures/projects/x.md $ASSAY_OUT/answer.json",
			func(e *audit.AuditorEntry) { e.Output = "answer.json" })
		require.Equal(t, "$ASSAY_OUT/answer.json is a link: expected a file", l.review(c).Detail)
	})
}

// A program that its own section keeps out of sight is told at once, with what to
// do.
func TestAReviewerOutOfSight(t *testing.T) {
	l := newLair(t, true)
	hidden := filepath.Join(l.key, "review.sh")
	require.NoError(t, os.WriteFile(hidden, []byte(verdict), 0o644))
	_, err := l.reviewer("sh "+hidden).Review(context.Background(), reviewTask)
	require.ErrorContains(t, err, "auditors.md:7: fake: its command names "+hidden+
		", which it may not see: add the file")
	named := l.reviewer("sh "+hidden,
		func(e *audit.AuditorEntry) { e.Reads = append(e.Reads, hidden) })
	require.Equal(t, audit.Bad, l.review(named).Verdict)
	_, err = l.reviewer("sh "+hidden,
		func(e *audit.AuditorEntry) {
			e.Reads = append(e.Reads,
				l.key)
		}).Review(context.Background(), reviewTask)
	require.ErrorContains(t, err, "holds answer keys")

}

// What it was trusted with is in nothing that is kept of it, wherever a message is
// cut.
func TestAReviewersSecretsStayInside(t *testing.T) {
	l := newLair(t, false)
	token := "hunter2-" + strings.Repeat("y", 60)
	t.Setenv("TRUSTED_TOKEN", token)
	trusted := func(e *audit.AuditorEntry) { e.Env = []string{"TRUSTED_TOKEN"} }
	inFile := func(e *audit.AuditorEntry) { e.Output = "answer.json" }
	for _, pad := range []int{1, 130, 280} {
		for _, c := range []*commandReviewer{
			l.reviewer(fmt.Sprintf(`printf '%%0%dd%%s' 0 "$TRUSTED_TOKEN"`, pad), trusted),
			l.reviewer(fmt.Sprintf(`printf '%%0%dd%%s' 0 "$TRUSTED_TOKEN" >&2; exit 3`, pad),
				trusted),
			l.reviewer(fmt.Sprintf(
				`printf '{"verdict":"bad","explanation":"%%0%dd%%s"}' 0 "$TRUSTED_TOKEN"`, pad),
				trusted),
			l.reviewer(fmt.Sprintf(`printf '%%0%dd%%s' 0 "$TRUSTED_TOKEN" > $ASSAY_OUT/answer.json`,
				pad), trusted, inFile),
		} {
			r := l.review(c)
			require.NotContains(t, fmt.Sprintf("%+v", r), "hunter2")
		}
	}
}

// What an agent says that it consumed is kept, and its answer is taken out of its
// envelope.
func TestAReviewersEnvelope(t *testing.T) {
	l := newLair(t, false)
	r := l.review(l.reviewer(
		`echo '{"type":"result","subtype":"success","result":"{\"verdict\":\"bad\",\"explanation\":\"x\"}","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}'`))
	require.Equal(t, audit.Bad, r.Verdict, r.Detail)
	require.Equal(t, audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true},
		r.Attempts[0].Usage)
	r = l.review(l.reviewer(
		`echo '{"type":"result","subtype":"error_max_turns","total_cost_usd":0.5}'`))
	require.Equal(t, audit.Errored, r.Status)
	require.Contains(t, r.Detail, "the agent says that its own run failed: error_max_turns")
	require.InDelta(t, 0.5, r.Attempts[0].Usage.USD, 1e-12)
}
